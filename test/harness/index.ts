/**
 * The harness of the end-to-end, crash and bench tests: real processes from `dist/`, a real home, the Bot API stand-in.
 * It waits for events and conditions, never for time; the timeouts here are hang guards. It knows no test framework:
 * whatever it starts is registered in a `Scope`, which the test closes.
 */
export { Scope } from "./scope.ts";
export { makeHome, type HomeOptions, type TestHome, type TestProfile } from "./home.ts";
export { testClock, type TestClock } from "./clock.ts";
export { startServer, type ServerOptions, type ServerProcess } from "./server.ts";
export { liveButtons, startStandIn, type Phone, type StandIn } from "./stand-in.ts";
export { client, startRun, waitForRun } from "./runs.ts";
export { runCli, type CliResult } from "./cli.ts";
export { leakSearch, logsOf, tokenForms, type Leak } from "./leaks.ts";
export { HANG_MS, ROOT, builtEntry, childEnv } from "./paths.ts";
