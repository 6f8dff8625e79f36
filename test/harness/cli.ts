/** The command line as a real process. */
import { spawn } from "node:child_process";

import { builtEntry, childEnv } from "./paths.ts";
import type { Scope } from "./scope.ts";
import { guarded } from "./server.ts";

export interface CliResult {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface CliOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  readonly stdin?: string;
  /** Called with all of stdout so far at each piece, for example to send a signal at the right moment. */
  readonly onOutput?: (stdout: string, kill: (signal: NodeJS.Signals) => void, pid: number) => void;
}

/** Runs `holdpoint` with arguments and waits for its end. */
export function runCli(scope: Scope, args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = spawn(process.execPath, [builtEntry("src/cli/main.js"), ...args], {
    stdio: ["pipe", "pipe", "pipe"],
    env: childEnv(options.env),
    cwd: options.cwd,
  });
  let over = false;
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    options.onOutput?.(stdout, (signal) => child.kill(signal), child.pid as number);
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  child.stdin.on("error", () => {});
  child.stdin.end(options.stdin ?? "");
  const end = new Promise<CliResult>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      over = true;
      resolve({ code, signal, stdout, stderr });
    });
  });
  scope.add(async () => {
    // SIGTERM first: the demo has children of its own to end.
    if (!over) child.kill("SIGTERM");
    await end;
  });
  return guarded(end, `holdpoint ${args.join(" ")} did not end`, () => `${stdout}\n${stderr}`);
}
