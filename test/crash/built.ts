/** The service under test is the built one; an old build would be tested for the wrong reasons. */
import { spawnSync } from "node:child_process";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

import { builtEntry, ROOT } from "../harness/index.ts";

/**
 * Builds dist/ when a source is newer than it.
 * @throws Error when that fails
 */
export function ensureBuilt(): void {
  const built = statSync(builtEntry("src/server/main.js"), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = ["src", "adapters", "renderers"].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .map((name) => statSync(join(ROOT, folder, name)).mtimeMs),
  );
  if (sources.every((at) => at <= built)) return;
  process.stderr.write("building dist/\n");
  const { status } = spawnSync(process.execPath, [join(ROOT, "test/tools/build.mjs")], { stdio: ["ignore", 2, 2] });
  if (status !== 0) throw new Error("dist/ could not be built");
}
