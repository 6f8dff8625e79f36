/**
 * Entry of the server process. Takes the home's lock, opens the database, starts the core over the system's ports, and stops in
 * order on SIGTERM or SIGINT. `HOLDPOINT_END_WITH_STDIN=1` ends it with whoever holds its standard input (the demo). `HOLDPOINT_READY_LINE=1` prints one line of JSON on stdout when it is ready.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { setFlagsFromString } from "node:v8";
import { HoldpointError, isHoldpointError, stackOf, toErrorRecord } from "../contracts/errors.ts";
import { parentOf, startIdentity } from "../contracts/process-identity.ts";
import { takeLock } from "../state/lock.ts";
import { openStore } from "../state/store.ts";
import { ServerCore } from "./core.ts";
import { watchIdle } from "./idle-exit.ts";
import { homeOf, loadConfig, prepareHome } from "./home.ts";
import type { Ports } from "./ports.ts";
import { agentRuns, endAgents } from "./system/agent-orphans.ts";
import { systemClock } from "./system/clock.ts";
import { ControlledClock } from "./system/controlled-clock.ts";
import { homeKey } from "./system/home-key.ts";
import { hookPage } from "./system/hook-listener.ts";
import { systemLauncher } from "./system/launcher.ts";
import { unixListener } from "./system/listener.ts";
import { openLog } from "./system/log.ts";
import { metricsPage } from "./system/metrics-page.ts";
import { reapOrphans } from "./system/orphans.ts";
import { testSeams } from "./system/test-seams.ts";
import { Watchman } from "./system/watchman.ts";

const installPath = fileURLToPath(new URL("../../../", import.meta.url));

async function main(): Promise<void> {
  const home = homeOf();
  prepareHome(home);
  const lock = takeLock(home.lock);
  const config = loadConfig(home);
  const seams = testSeams(process.env, config, (point) => log.warn({ ...point }, "a test seam killed a child"));
  const log = await openLog(home.logs, config.server.logLevel, process.stderr.isTTY);
  const broken = (what: string) => (error: unknown) => {
    log.error({ error: stackOf(error) ?? String(error) }, `${what}; the server exits`);
    process.exit(70);
  };
  process.on("uncaughtException", broken("uncaught exception"));
  process.on("unhandledRejection", broken("unhandled rejection"));
  const clock = seams.clockSocket === null ? systemClock : new ControlledClock(seams.clockStart ?? Date.now());
  const product = productVersion();
  const store = openStore({
    path: home.database,
    clock,
    random: randomBytes,
    product,
    ...(seams.faults === null ? {} : { faults: seams.faults }),
    onFatal: (error) => {
      // Memory may be ahead of the disk: only a new process that reads the disk can be trusted.
      log.error(
        { error: toErrorRecord(error, "storageBroken") },
        "storage failed; the server exits and recovers from disk",
      );
      process.exit(70);
    },
  });
  const watchman = new Watchman(log);
  const ports: Ports = {
    clock,
    random: randomBytes,
    launcher: systemLauncher(log, watchman, seams.adapterEntries, seams.childFault),
    processes: {
      endGroups: (rows) => reapOrphans(rows, log),
      endAgents: (runIds) => endAgents(runIds, log),
      agentRuns,
      watch: (pid, what) => watchman.watch(pid, what),
      unwatch: (pid) => watchman.unwatch(pid),
      parentOf: (pid, identity) => Promise.resolve(parentOf(pid, identity)),
    },
    listener: unixListener(home.socket),
    metrics: metricsPage(log),
    hooks: hookPage(log),
    homeKey: () => homeKey(home.key),
    log,
  };
  let stopping = false;
  // A stop may be asked for while the server is still starting: it waits for the start and then ends in order.
  const shutdown = async (why: string): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log.info({ why }, "stopping");
    await (await starting).stop();
    rmSync(join(home.dir, "server.json"), { force: true });
    lock.release();
    log.close();
    process.exit(0);
  };
  const starting = ServerCore.start({
    store,
    ports,
    home: home.dir,
    cacheDir: home.cache,
    sourcesDir: home.sources,
    product,
    installPath,
    config,
    loadConfig: () => loadConfig(home),
    extraChannels: seams.channels,
    channelSettings: seams.settings,
    serverId: randomUUID(),
    pid: process.pid,
    startIdentity: startIdentity(process.pid) ?? "unknown",
    onStopRequest: () => void shutdown("a client asked"),
  });
  process.on("SIGTERM", () => void shutdown("SIGTERM"));
  process.on("SIGINT", () => void shutdown("SIGINT"));
  const core = await starting;
  if (clock instanceof ControlledClock && seams.clockSocket !== null) {
    clock.settle = () => core.settled();
    await clock.serve(seams.clockSocket);
  }
  writeFileSync(
    join(home.dir, "server.json"),
    `${JSON.stringify({ pid: process.pid, epoch: core.epoch, product, installPath })}\n`,
    { mode: 0o600 },
  );

  if (process.env["HOLDPOINT_ON_DEMAND"] === "1")
    watchIdle(
      clock,
      () => core.busy,
      () => void shutdown("nothing to do"),
    );
  if (process.env["HOLDPOINT_END_WITH_STDIN"] === "1")
    process.stdin.once("close", () => void shutdown("stdin closed")).resume();
  process.on("SIGHUP", () => void core.reload());
  keepSmall();
  log.info({ epoch: core.epoch, home: home.dir, product }, "ready");
  if (process.env["HOLDPOINT_READY_LINE"] === "1")
    process.stdout.write(`${JSON.stringify({ ready: true, pid: process.pid, epoch: core.epoch })}\n`);
}

/**
 * The space for young objects stays as large as loading the modules has made it (a few megabytes): what a command of the store
 * leaves behind dies at once, and letting that space grow to V8's default costs 25 MB of memory for no speed.
 */
function keepSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
}

function productVersion(): string {
  const parsed = JSON.parse(readFileSync(join(installPath, "package.json"), "utf8")) as { version?: unknown };
  return String(parsed.version);
}

main().catch((error: unknown) => {
  const record = toErrorRecord(error);
  if (process.env["HOLDPOINT_READY_LINE"] === "1")
    process.stdout.write(`${JSON.stringify({ ready: false, error: record })}\n`);
  process.stderr.write(`[${record.code}] ${record.message}\n${record.remedy}\n`);
  if (!isHoldpointError(error) && error instanceof Error) process.stderr.write(`${stackOf(error)}\n`);
  process.exit(error instanceof HoldpointError && error.kind === "serverRunning" ? 3 : 1);
});
