/**
 * One Pi in RPC mode as a child: its records, its commands, the bridge's pipe, and its end. Framing and meaning of the
 * records are those of Pi's documentation (rpc.md, rpc-commands.md, json.md of 1.6.0).
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import type { Duplex } from "node:stream";
import type { PiConfig } from "../../contracts/config.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { AGENT, PROCESS } from "../../contracts/limits.ts";
import {
  BRIDGE_VARIABLE,
  fromBridgeSchema,
  type BridgeLaunch,
  type FromBridge,
  type ToBridge,
} from "../../contracts/pi/bridge.ts";
import { piCommand, piEnvironment } from "../../contracts/pi/check.ts";
import { TEST_SEAMS } from "../../contracts/test-seams.ts";
import { startIdentity } from "../../contracts/process-identity.ts";
import { endTree, MARK_VARIABLE, type Child } from "../../contracts/process-tree.ts";
import { framePort, LineSplitter, type FramePort } from "../../contracts/wire/frames.ts";

/** Waits for the first of the promises, at most `ms`. */
export async function within(ms: number, ...promises: readonly Promise<unknown>[]): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)));
  try {
    await Promise.race([late, ...promises]);
  } finally {
    clearTimeout(timer);
  }
}

const BRIDGE_FD = 3;

/** The bulk of what Pi says, and nothing that is needed here: it is not even parsed. */
const UNREAD = ["message_update", "message_start", "tool_execution_update", "agent_end"].map(
  (type) => `{"type":"${type}"`,
);

/** The response to every command of a Pi that has ended. */
const GONE: PiRecord = { type: "response", success: false, error: "Pi is gone." };

/** Variables of the runner that are no business of an agent. */

export interface PiStart {
  readonly pi: PiConfig;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly bridge: Omit<BridgeLaunch, "fd" | "protocol">;
}

export interface PiRecord {
  readonly type: string;
  readonly [field: string]: unknown;
}

export class PiProcess {
  readonly pid: number;
  readonly child: Child;
  readonly port: FramePort<FromBridge, ToBridge>;
  /** Resolves with the words for how it ended, once. */
  readonly ended: Promise<string>;
  readonly #process: ChildProcess;
  readonly #answers = new Map<string, (record: PiRecord) => void>();
  #commands = 0;
  #gone = false;
  #stderr = "";
  #listener: (record: PiRecord) => void = () => {};

  private constructor(process: ChildProcess, pid: number, mark: string) {
    this.#process = process;
    this.pid = pid;
    this.child = { pid, startIdentity: startIdentity(pid), mark };
    this.port = framePort<FromBridge, ToBridge>(process.stdio[BRIDGE_FD] as Duplex, fromBridgeSchema);
    process.stderr?.on("data", (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString("utf8")).slice(-PROCESS.diagnosticBytes);
    });
    // A write to a process that has just ended is answered by its end.
    process.stdin?.on("error", () => {});
    this.ended = new Promise((resolve) => {
      const splitter = new LineSplitter(AGENT.recordBytes);
      process.stdout?.on("data", (chunk: Buffer) => {
        try {
          for (const line of splitter.push(chunk)) this.#record(line);
        } catch (error) {
          process.stdout?.destroy();
          resolve(`sent what is no record of Pi: ${error instanceof Error ? error.message : String(error)}`);
        }
      });
      // Without its bridge Pi can hand over nothing. When it ends, its pipe closes too, and how it ended says more.
      let patience: NodeJS.Timeout | undefined;
      this.port.onClose((error) => {
        if (error !== undefined) resolve(`said on the pipe of its bridge what is not understood: ${error.message}`);
        else if (process.exitCode === null && process.signalCode === null) {
          patience = setTimeout(() => resolve("closed the pipe of its bridge"), AGENT.settleMs);
        }
      });
      process.once("exit", (code, signal) => {
        clearTimeout(patience);
        // What it said last is still in its pipes.
        setImmediate(() => resolve(`ended with ${signal ?? `code ${code}`}`));
      });
    });
    void this.#refuseWhenGone();
  }

  /** Starts Pi in a process group of its own. Throws `agentFailed` if the program does not start at all. */
  static async start({ args, bridge, cwd, pi }: PiStart): Promise<PiProcess> {
    const { first, program } = piCommand(pi);
    const launch: BridgeLaunch = { protocol: 1, fd: BRIDGE_FD, ...bridge };
    const env: NodeJS.ProcessEnv = {
      ...piEnvironment(pi),
      [MARK_VARIABLE]: bridge.mark,
      [BRIDGE_VARIABLE]: JSON.stringify(launch),
    };
    for (const name of TEST_SEAMS) delete env[name];
    const process = spawn(program, [...first, ...args], {
      cwd,
      env,
      detached: true,
      stdio: ["pipe", "pipe", "pipe", "pipe"],
    });
    if (process.pid === undefined) {
      const [error] = (await once(process, "error")) as [Error];
      throw new HoldpointError("agentFailed", `Pi could not be started: ${error.message}`);
    }
    return new PiProcess(process, process.pid, bridge.mark);
  }

  /** The end of what Pi wrote on stderr, on one line each, bounded for an error message. */
  get diagnostic(): string {
    return this.#stderr.trim().slice(-AGENT.diagnosticChars);
  }

  /** Replaces the listener of Pi's events. */
  onEvent(listener: (record: PiRecord) => void): void {
    this.#listener = listener;
  }

  /** Sends a command; resolves with its response, also a refusing one. */
  command(type: string, fields: Readonly<Record<string, unknown>> = {}): Promise<PiRecord> {
    if (this.#gone) return Promise.resolve(GONE);
    const id = `c${++this.#commands}`;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#write({ id, type, ...fields });
    });
  }

  /**
   * Ends Pi and everything that belongs to it, and resolves when all of it is gone. A turn that goes on is aborted; until
   * `settled`, at most the abort grace, Pi may write it down. Throws `internal` if the kernel holds a process.
   */
  async end(settled: Promise<unknown>): Promise<void> {
    void this.command("abort");
    await within(AGENT.abortGraceMs, settled, this.ended);
    this.port.send({ type: "bye" });
    this.#process.stdin?.end();
    const left = await endTree(this.child, PROCESS.killGraceMs, AGENT.goneMs);
    this.port.close();
    this.#process.stdout?.destroy();
    this.#process.stderr?.destroy();
    if (left.length === 0) return;
    throw new HoldpointError(
      "internal",
      `Processes ${left.join(", ")} of an agent do not end, though they were killed.`,
    );
  }

  async #refuseWhenGone(): Promise<void> {
    await this.ended;
    this.#gone = true;
    for (const answer of this.#answers.values()) answer(GONE);
    this.#answers.clear();
  }

  #write(record: object): void {
    this.#process.stdin?.write(`${JSON.stringify(record)}\n`);
  }

  #record(line: string): void {
    if (UNREAD.some((start) => line.startsWith(start))) return;
    const record = JSON.parse(line) as PiRecord;
    if (record.type === "response") {
      const answer = this.#answers.get(String(record["id"]));
      this.#answers.delete(String(record["id"]));
      answer?.(record);
    } else if (record.type === "extension_ui_request") {
      // Nobody is there to be asked; a dialog that is not answered would wait for ever.
      this.#write({ type: "extension_ui_response", id: record["id"], cancelled: true });
    } else this.#listener(record);
  }
}
