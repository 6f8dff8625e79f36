/**
 * Child processes of the demo: started by path, their first line awaited, ended whatever happens.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

import { HoldpointError } from "../../contracts/errors.ts";
import { DEMO } from "../../contracts/limits.ts";

/** How much of a child's stderr is kept to explain its end. */
const COMPLAINT_CHARS = 4_000;

export interface DemoChild {
  readonly pid: number;
  /** The first line it wrote, parsed. */
  readonly ready: Record<string, unknown>;
  /** Resolves when the process has ended. */
  readonly gone: Promise<void>;
  /** Asks it to end, then kills it; resolves when it has ended. */
  end(): Promise<void>;
}

export interface DemoChildOptions {
  /** How errors call it. */
  readonly what: string;
  readonly entry: string;
  readonly env: NodeJS.ProcessEnv;
  /** Written to its standard input as one line. The input stays open: its end tells the child that we are gone. */
  readonly firstLine?: string;
  readonly signal: AbortSignal;
}

/**
 * Starts a child and waits for its first line of JSON.
 *
 * @throws HoldpointError `demoFailed` with what it wrote to stderr when it ends before that.
 */
export async function startChild(options: DemoChildOptions): Promise<DemoChild> {
  const child = spawn(process.execPath, [options.entry], {
    stdio: ["pipe", "pipe", "pipe"],
    env: options.env,
    // A group of its own: Ctrl-C reaches only the demo, which then ends its children in order.
    detached: true,
  });
  let complaint = "";
  child.stderr
    .setEncoding("utf8")
    .on("data", (text: string) => (complaint = (complaint + text).slice(-COMPLAINT_CHARS)));
  child.stdin.on("error", () => {});
  const gone = new Promise<void>((resolve) => {
    child.once("exit", () => resolve());
    child.once("error", () => resolve());
  });
  const end = (): Promise<void> => endChild(child, gone);
  if (options.firstLine !== undefined) child.stdin.write(`${options.firstLine}\n`);
  try {
    const ready = JSON.parse(await firstLineOf(child, gone, options.signal)) as Record<string, unknown>;
    // The server says in one line why it cannot start; the same words are on its stderr.
    if (ready["ready"] === false) await gone;
    else return { pid: child.pid as number, ready, gone, end };
    throw new Error("it refused");
  } catch (error) {
    await end();
    options.signal.throwIfAborted();
    const why = complaint.trim() || (error instanceof Error ? error.message : String(error));
    throw new HoldpointError("demoFailed", `${options.what} did not start: ${why}`);
  }
}

function firstLineOf(child: ChildProcess, gone: Promise<void>, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error("it has no output"));
    const reader = createInterface({ input: child.stdout });
    reader.once("line", resolve);
    child.once("error", reject);
    void gone.then(() => reject(new Error("it ended before it was ready")));
    signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
  });
}

async function endChild(child: ChildProcess, gone: Promise<void>): Promise<void> {
  child.stdin?.end();
  signalGroup(child, "SIGTERM");
  const timer = setTimeout(() => signalGroup(child, "SIGKILL"), DEMO.endMs);
  await gone;
  clearTimeout(timer);
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended in between.
  }
}
