/** Everything of the quick run once more with the oldest Pi that is supported, by a process of its own: models of cases remember what they were asked. */
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { installPi } from "./install.ts";

export interface OldestResult {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly failures: readonly { readonly name: string; readonly error: string }[];
}

/** @param folder where its report may lie */
export async function withOldest(say: (line: string) => void, folder: string, count: number): Promise<OldestResult> {
  const installed = installPi(say, "oldest");
  if (!installed.ok) {
    say(`SKIPPED: the ${count} tests with the oldest Pi. ${installed.reason}`);
    return { passed: 0, failed: 0, skipped: count, failures: [] };
  }
  const report = join(folder, "oldest.json");
  const main = fileURLToPath(new URL("main.ts", import.meta.url));
  const args = [...process.execArgv, main, "--cli", installed.command[1], "--report", report];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  child.stdout.setEncoding("utf8").on("data", (text: string) => say(text.trimEnd()));
  await new Promise((resolve) => child.once("close", resolve));
  const { failed, failures, passed, skipped } = JSON.parse(readFileSync(report, "utf8")) as OldestResult;
  const named = failures.map(({ error, name }) => ({ name: `with the oldest Pi: ${name}`, error }));
  return { failed, failures: named, passed, skipped };
}
