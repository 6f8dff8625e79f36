/** A server as a real process. */
import { spawn, type ChildProcess } from "node:child_process";
import { createInterface } from "node:readline";

import { fromErrorRecord, type ErrorRecord } from "../../src/contracts/errors.ts";
import type { TestHome } from "./home.ts";
import { HANG_MS, builtEntry, childEnv } from "./paths.ts";
import type { Scope } from "./scope.ts";

export interface ServerOptions {
  readonly env?: NodeJS.ProcessEnv;
  /** Node's own arguments, for example `["--expose-gc"]`. */
  readonly nodeArgs?: readonly string[];
  /** Runs the server under another program, for example `["strace", "-f"]`. */
  readonly under?: readonly string[];
}

interface ServerExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

export interface ServerProcess {
  /** As the server says it; below `under` it is not the pid of the spawned program. */
  readonly pid: number;
  readonly epoch: number;
  readonly home: TestHome;
  /** Resolves when the process is gone. */
  readonly exited: Promise<ServerExit>;
  /** Everything it wrote to stderr so far. */
  stderr(): string;
  /** Kills it (SIGKILL unless said otherwise) and waits until it is gone. */
  kill(signal?: NodeJS.Signals): Promise<ServerExit>;
  /** Stops it in order (SIGTERM) and waits until it is gone. */
  stop(): Promise<ServerExit>;
  /** Starts another server on the same home, with the same options unless given. This one must be gone. */
  restart(options?: ServerOptions): Promise<ServerProcess>;
}

/** Children that are alive; a test run that is torn down hard must not leave them behind. */
const alive = new Set<ChildProcess>();
process.on("exit", () => {
  for (const child of alive) child.kill("SIGKILL");
});

/**
 * Starts a server on a home and waits for its ready line.
 *
 * @throws HoldpointError the server's own error when it refuses to start; Error with its stderr when it dies or hangs.
 */
export async function startServer(scope: Scope, home: TestHome, options: ServerOptions = {}): Promise<ServerProcess> {
  const [program, ...before] = [...(options.under ?? []), process.execPath];
  const child = spawn(program, [...before, ...(options.nodeArgs ?? []), builtEntry("src/server/main.js")], {
    stdio: ["ignore", "pipe", "pipe"],
    env: childEnv({ HOLDPOINT_HOME: home.dir, HOLDPOINT_READY_LINE: "1", ...options.env }),
  });
  alive.add(child);
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const exited = new Promise<ServerExit>((resolve) => {
    child.once("exit", (code, signal) => {
      alive.delete(child);
      resolve({ code, signal });
    });
    child.once("error", () => alive.delete(child));
  });
  const killNow = async (signal: NodeJS.Signals = "SIGKILL"): Promise<ServerExit> => {
    child.kill(signal);
    return guarded(exited, `the server did not end after ${signal}`, () => stderr);
  };
  scope.add(async () => {
    if (alive.has(child)) await killNow();
  });
  const ready = await guarded(
    readyLine(child, () => stderr),
    "the server did not become ready",
    () => stderr,
  );
  return {
    pid: ready.pid,
    epoch: ready.epoch,
    home,
    exited,
    stderr: () => stderr,
    kill: killNow,
    stop: () => killNow("SIGTERM"),
    restart: (again = options) => startServer(scope, home, again),
  };
}

interface Ready {
  readonly pid: number;
  readonly epoch: number;
}

function readyLine(child: ChildProcess, stderr: () => string): Promise<Ready> {
  return new Promise((resolve, reject) => {
    if (!child.stdout) return reject(new Error("the server has no stdout"));
    let refusal: Error | undefined;
    createInterface({ input: child.stdout }).once("line", (line) => {
      const said = JSON.parse(line) as { ready: boolean; error?: ErrorRecord } & Ready;
      if (said.ready) resolve({ pid: said.pid, epoch: said.epoch });
      else refusal = said.error ? fromErrorRecord(said.error) : new Error(line);
    });
    child.once("error", reject);
    // Rejected only after its end, so that a test that starts the next server does not race with this one.
    child.once("close", (code, signal) => {
      reject(refusal ?? new Error(`the server ended before it was ready (${signal ?? code}): ${stderr()}`));
    });
  });
}

/** The promise, or an error with what the server said when the hang limit is over. */
export async function guarded<T>(promise: Promise<T>, what: string, said: () => string = () => ""): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} within ${HANG_MS / 1_000} s. ${said()}`.trim())), HANG_MS);
  });
  try {
    return await Promise.race([promise, hang]);
  } finally {
    clearTimeout(timer);
  }
}
