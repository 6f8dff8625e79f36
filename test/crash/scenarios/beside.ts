/** Commands of the store that no client or child asks for yet: a process of the test gives them while the server is away. */
import { spawn } from "node:child_process";
import { join } from "node:path";

import { childEnv, HANG_MS } from "../../harness/index.ts";
import { bundledChild } from "../bundled.ts";
import type { Stage } from "../stage.ts";

/**
 * Runs a child of test/crash/children on the stage's database, again after each fault that strikes it and once more after the end, as
 * a caller does that heard no answer. Returns what the last one printed.
 */
export async function beside(stage: Stage, child: string, args: readonly string[]): Promise<string> {
  while (stage.ahead.length > 0 && (await run(stage, child, args, true)) === null);
  return (await run(stage, child, args, false)) ?? "";
}

/** What the child printed; null when the fault killed it. */
async function run(stage: Stage, child: string, args: readonly string[], fault: boolean): Promise<string | null> {
  const started = spawn(process.execPath, [await bundledChild(child), join(stage.home.dir, "state.sqlite"), ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: childEnv(stage.env({ fault })),
  });
  let stdout = "";
  let stderr = "";
  started.stdout.on("data", (chunk: Buffer) => (stdout += chunk.toString()));
  started.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const guard = setTimeout(() => started.kill("SIGTERM"), HANG_MS);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    started.once("close", (...exit) => resolve(exit));
  });
  clearTimeout(guard);
  if (code === 0) return stdout;
  if (fault && signal === "SIGKILL" && stage.diedOfFault()) return null;
  throw new Error(`${child} ended with ${signal ?? code}: ${stderr}`);
}
