/** The latest ends of children that nobody asked for, for `server status`. In memory; the durable record is child_processes. */
import type { ServerStatus } from "../contracts/protocol/operations.ts";
import type { ChildExit, Clock } from "./ports.ts";

const KEPT = 20;
const DIAGNOSTIC_CHARS = 2_000;

export class CrashLog {
  readonly #entries: ServerStatus["crashes"] = [];
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `why` is the server's own reason, where it ended the child; else the child's last words count. */
  add(kind: string, name: string, exit: ChildExit | null, why?: string): void {
    const outcome = exit === null ? "not started" : (exit.signal ?? `code ${exit.code}`);
    this.#entries.push({
      kind: `${kind} ${name}`,
      at: this.#clock.now(),
      outcome,
      diagnostic: (why ?? exit?.diagnostic ?? "").slice(-DIAGNOSTIC_CHARS),
    });
    if (this.#entries.length > KEPT) this.#entries.shift();
  }

  list(): ServerStatus["crashes"] {
    return [...this.#entries];
  }
}

/** What V8 writes among its own figures before it ends the process. */
const OUT_OF_MEMORY = "JavaScript heap out of memory";

/** The line of a diagnostic that says what happened: the first with an error's name, else the first one. */
export function gist(diagnostic: string): string {
  if (diagnostic.includes(OUT_OF_MEMORY)) return `out of memory (${OUT_OF_MEMORY})`;
  const lines = diagnostic
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return (
    lines.find((line) => /^(Uncaught )?[A-Z][A-Za-z]*(Error|Exception)\b|^\[HP\d+/.test(line)) ??
    lines[0] ??
    ""
  ).slice(0, 500);
}
