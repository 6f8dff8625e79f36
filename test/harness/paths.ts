/** Where things are for tests that run what was built. */
import { fileURLToPath } from "node:url";
import { join } from "node:path";

/** The repository. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** The hang limit: whatever takes longer will never come. Nothing asserts a shorter time. */
export const HANG_MS = 30_000;

/** The built form of an entry, for example `src/server/main.js`; `HOLDPOINT_TEST_DIST` names another build than `dist/`. */
export function builtEntry(path: string): string {
  return join(process.env["HOLDPOINT_TEST_DIST"] ?? join(ROOT, "dist"), path);
}

/** An environment for children: nothing of the caller's own installation or test seams, plus what is given. */
export function childEnv(env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const clean = Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(HOLDPOINT_|VITEST)/.test(name)));
  // Loading extra certificates costs 50 ms at every start, and nothing here leaves the machine.
  delete clean["NODE_EXTRA_CA_CERTS"];
  delete clean["NODE_OPTIONS"];
  return { ...clean, ...env };
}
