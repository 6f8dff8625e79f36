/** Commands that a workflow runs: what is asked for and what came of it. The engine and every executor speak of these. */

/** One program to run. No shell is involved unless it is the command. */
export interface CommandSpec {
  readonly command: string;
  readonly args: readonly string[];
  /** Working folder, relative to the project; default the project. */
  readonly cwd?: string | undefined;
  /** Added to the environment of the runner. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Text for its standard input; without it the input is empty. */
  readonly stdin?: string | undefined;
  /** Milliseconds; then TERM, after 1 s KILL, for the whole process group. Null for no limit of its own. */
  readonly timeoutMs: number | null;
  /** For each stream; what is beyond it is dropped and marked. */
  readonly maxOutputChars: number;
}

/** What a command came to. Its process group is gone when this is known. */
export interface CommandResult {
  /** Null when a signal ended it or it was never started. */
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  /** Streams of which something was dropped. */
  readonly truncated: readonly ("stdout" | "stderr")[];
  readonly timedOut: boolean;
  /** Why it could not be started at all. */
  readonly startError?: string;
  readonly durationMs: number;
}

export type CommandStream = "stdout" | "stderr";

/** What stands at the end of a stream of which something was dropped. */
export function truncationMarker(dropped: number): string {
  return `\n[… ${dropped} more characters were dropped]`;
}
