/**
 * Commands of nodes. A command starts behind a go byte: a small shell waits for it in a process group of its own, is
 * registered durably with the server, and only then becomes the command. Its group, and what left it, is gone when its result is known.
 *
 * Owns processes and their output. Must not judge results: every way to end is one.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import type { Writable } from "node:stream";
import type { CommandResult, CommandSpec, CommandStream } from "../../contracts/command.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { MARK_VARIABLE } from "../../contracts/process-tree.ts";
import { processTimers, type CommandListeners } from "../../workflow/engine/index.ts";
import { endGroup, groupOf, type Group } from "./groups.ts";
import { Output } from "./output.ts";
import { programOf } from "./program.ts";

/** How groups become known to the server. */
export interface Registrar {
  /** Marks what the command starts, so that it is found when it leaves the group; none for what belongs to no run. */
  readonly mark?: string;
  /** Resolves with an id when the group is registered durably. Rejects when it is refused. */
  register(pid: number, startIdentity: string): Promise<string>;
  /** Nothing of the group is left. */
  unregister(id: string, outcome: string): Promise<void>;
}

const GO_FD = 3;
/** Reads a line from the descriptor, closes it, and becomes the command; without one (the runner died) it ends. */
const WAIT_THEN_BECOME = `read -r go <&${GO_FD} || exit 125; exec ${GO_FD}<&-; exec "$0" "$@"`;
/** What a process outside the group may keep of our pipes is not waited for longer. */
const DRAIN_MS = 500;

/** As `EngineHost.runShell`. The base folder of a relative `cwd` is that of the process. */
export async function runCommand(
  spec: CommandSpec,
  registrar: Registrar,
  signal: AbortSignal,
  listeners?: CommandListeners,
): Promise<CommandResult> {
  const began = performance.now();
  const cwd = resolve(spec.cwd ?? ".");
  const marked: NodeJS.ProcessEnv = registrar.mark === undefined ? {} : { [MARK_VARIABLE]: registrar.mark };
  const env = { ...process.env, ...spec.env, ...marked };
  const program = await programOf(spec.command, cwd, env["PATH"]);
  if ("error" in program) return notStarted(program.error, began);
  signal.throwIfAborted();
  let child: ChildProcess;
  try {
    child = spawn("/bin/sh", ["-c", WAIT_THEN_BECOME, program.file, ...spec.args], {
      cwd,
      env,
      detached: true,
      stdio: [spec.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe", "pipe"],
    });
  } catch (error) {
    // Arguments that no process can have.
    return notStarted(error instanceof Error ? error.message : String(error), began);
  }
  const running = new Running(child, spec, listeners);
  const group = child.pid === undefined ? undefined : groupOf(child.pid, registrar.mark);
  if (group === undefined) return notStarted(await running.startError, began);
  return running.follow(group, registrar, signal, began);
}

function notStarted(startError: string, began: number): CommandResult {
  const durationMs = performance.now() - began;
  return {
    exitCode: null,
    signal: null,
    stdout: "",
    stderr: "",
    truncated: [],
    timedOut: false,
    startError,
    durationMs,
  };
}

class Running {
  /** Why the process is not there; settles only then. */
  readonly startError: Promise<string>;
  readonly #child: ChildProcess;
  readonly #spec: CommandSpec;
  readonly #outputs: Readonly<Record<CommandStream, Output>>;
  readonly #exited: Promise<{ code: number | null; signal: string | null }>;
  readonly #closed: Promise<unknown>;

  constructor(child: ChildProcess, spec: CommandSpec, listeners: CommandListeners | undefined) {
    this.#child = child;
    this.#spec = spec;
    const onLine = (stream: CommandStream): ((line: string) => void) | undefined =>
      listeners?.streams.includes(stream) === true ? (line) => listeners.onLine(line, stream) : undefined;
    const output = (stream: CommandStream): Output => {
      const kept = new Output(spec.maxOutputChars, onLine(stream));
      child[stream]?.on("data", (chunk: Buffer) => kept.take(chunk));
      return kept;
    };
    this.#outputs = { stdout: output("stdout"), stderr: output("stderr") };
    this.startError = new Promise((resolved) => {
      child.once("error", (error) => resolved(error.message));
      child.once("exit", () => resolved("it ended before it began"));
    });
    this.#exited = new Promise((resolved) => child.once("exit", (code, signal) => resolved({ code, signal })));
    this.#closed = new Promise((resolved) => child.once("close", resolved));
    // A command that does not read its input, or is killed before it could.
    for (const stream of [child.stdin, this.#go]) stream?.on("error", () => undefined);
  }

  get #go(): Writable {
    return this.#child.stdio[GO_FD] as Writable;
  }

  async follow(group: Group, registrar: Registrar, signal: AbortSignal, began: number): Promise<CommandResult> {
    let id: string;
    try {
      id = await registrar.register(group.pid, group.startIdentity);
    } catch (error) {
      await endGroup(group);
      throw error;
    }
    let late = false;
    let disarm = (): void => undefined;
    const cut = new Promise<void>((resolved) => {
      signal.addEventListener("abort", () => resolved(), { once: true });
      if (this.#spec.timeoutMs !== null) {
        disarm = processTimers.after(this.#spec.timeoutMs, () => {
          late = true;
          resolved();
        });
      }
      if (signal.aborted) resolved();
      else this.#begin();
    });
    await Promise.race([this.#exited, cut]);
    disarm();
    await this.#end(group);
    const { code, signal: by } = await this.#exited;
    await this.#drained();
    for (const stream of [this.#child.stdout, this.#child.stderr, this.#child.stdin, this.#go]) stream?.destroy();
    await registrar.unregister(id, by ?? `code ${code}`);
    const [stdout, stderr] = [this.#outputs.stdout.end(), this.#outputs.stderr.end()];
    return {
      exitCode: code,
      signal: by,
      stdout: stdout.text,
      stderr: stderr.text,
      truncated: [
        ...(stdout.truncated ? (["stdout"] as const) : []),
        ...(stderr.truncated ? (["stderr"] as const) : []),
      ],
      timedOut: late,
      durationMs: performance.now() - began,
    };
  }

  /** The go byte, and the input. */
  #begin(): void {
    this.#go.end("\n");
    this.#child.stdin?.end(this.#spec.stdin);
  }

  async #drained(): Promise<void> {
    const late = new Promise<void>((resolved) => {
      void this.#closed.then(processTimers.after(DRAIN_MS, resolved));
    });
    await Promise.race([this.#closed, late]);
  }

  async #end(group: Group): Promise<void> {
    try {
      await endGroup(group);
    } catch (error) {
      throw new HoldpointError("internal", `A command's group cannot be ended: ${(error as Error).message}`, {
        cause: error,
      });
    }
  }
}
