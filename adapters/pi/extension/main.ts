/**
 * Holdpoint inside Pi: the extension that the package's `pi` manifest names. The factory never throws, because Pi would not
 * start. Pi compiles what it loads, file by file; the rest of ours is JavaScript already and is required past that, which is
 * four times as fast. So it is loaded once for a process: an update of the package takes effect when Pi starts again.
 */
import { createRequire } from "node:module";
import type { PiApi } from "./pi-api.ts";
import type * as Wiring from "./wiring.ts";

export default async function extension(pi: PiApi): Promise<void> {
  try {
    (await wiring()).wire(pi);
  } catch (error) {
    process.stderr.write(`holdpoint: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

async function wiring(): Promise<typeof Wiring> {
  try {
    return createRequire(import.meta.url)("./wiring.js") as typeof Wiring;
  } catch {
    // A runtime that cannot require modules.
    return import("./wiring.ts");
  }
}
