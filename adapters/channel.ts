/**
 * Adapters connect one channel each: they are child processes that turn content into messages, perform exactly the
 * attempt they were told to, say what they know about it, and hand over what people send. They never decide, never
 * see a decision's subject, never open the database.
 *
 * This file is the loop that every adapter child runs; a new channel provides `Connect` (channel/transport.ts) and a
 * main file that calls `runAdapter`.
 */
import { openChildPipe } from "../src/contracts/wire/child.ts";
import type { FramePort } from "../src/contracts/wire/frames.ts";
import {
  HoldpointError,
  isHoldpointError,
  messageOf,
  stackOf,
  toErrorRecord,
  type ErrorRecord,
} from "../src/contracts/errors.ts";
import { ADAPTER } from "../src/contracts/limits.ts";
import {
  toAdapterSchema,
  type ChannelLaunch,
  type FromAdapter,
  type ToAdapter,
} from "../src/contracts/protocol/channel.ts";
import { Attempts } from "./channel/attempts.ts";
import { Inbox } from "./channel/inbox.ts";
import { readSecret, redactor, redactRecord, type Redact } from "./channel/secret.ts";
import { ChannelProblem, type Connect, type Transport } from "./channel/transport.ts";

/** Runs an adapter in this process: opens the pipe first, and ends with it. */
export function runAdapter(connect: Connect): void {
  const port = openChildPipe<ToAdapter, FromAdapter>(toAdapterSchema);
  const channel = new AdapterLoop(port, connect, { note: (text) => process.stderr.write(`${text}\n`) });
  const fail = (error: unknown): void => {
    process.stderr.write(`${channel.clean(stackOf(error) ?? messageOf(error))}\n`);
    process.exit(1);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);
}

/** Pauses, replaceable so that tests need not wait. Milliseconds. */
export interface LoopTimes {
  readonly secretAgainMs: number;
  readonly backoffMinMs: number;
  readonly backoffMaxMs: number;
  readonly acknowledgeMs?: number;
}

export interface LoopOptions {
  readonly note: (text: string) => void;
  readonly times?: LoopTimes;
}

/** One conversation with the server, over any port. Public for tests that run it in their own process. */
export class AdapterLoop {
  readonly #port: FramePort<ToAdapter, FromAdapter>;
  readonly #connect: Connect;
  readonly #note: (text: string) => void;
  readonly #times: LoopTimes;
  readonly #attempts: Attempts;
  readonly #inbox: Inbox;
  readonly #closing = new AbortController();
  /** Ends polling only; attempts go on. */
  readonly #polling = new AbortController();
  #launched = false;
  #transport: Transport | null = null;
  #problem: ErrorRecord = new HoldpointError("channelUnreachable", "The channel is not connected yet.").toRecord();
  #account: string | null = null;
  #cursor: number | null = null;
  #redact: Redact = redactor(null);

  constructor(port: FramePort<ToAdapter, FromAdapter>, connect: Connect, options: LoopOptions) {
    this.#port = port;
    this.#connect = connect;
    this.#note = (text) => options.note(this.clean(text));
    this.#times = options.times ?? ADAPTER;
    this.#attempts = new Attempts({
      send: (frame) => this.#send(frame),
      transport: () => this.#transport ?? this.#problem,
    });
    this.#inbox = new Inbox((frame) => this.#send(frame), this.#times.acknowledgeMs);
    port.onClose(() => {
      this.#polling.abort();
      this.#closing.abort();
      this.#transport?.close();
    });
    port.onFrame((frame) => this.#take(frame));
  }

  /** The text without the channel's secret. */
  clean(text: string): string {
    return this.#redact(text);
  }

  #take(frame: ToAdapter): void {
    if ((frame.type === "launch") === this.#launched) {
      throw new HoldpointError(
        "protocolRejected",
        `Frame "${frame.type}" must ${this.#launched ? "not " : ""}follow the launch.`,
      );
    }
    switch (frame.type) {
      case "launch":
        this.#launched = true;
        this.#cursor = frame.cursor;
        void this.#live(frame);
        break;
      case "perform":
        this.#attempts.perform(frame);
        break;
      case "permit":
      case "partStored":
      case "outcomeStored":
        this.#attempts.reply(frame);
        break;
      case "verdict":
        this.#inbox.verdict(frame);
        break;
      case "link.view":
      case "link.reply":
        this.#transport?.converse?.(frame);
        break;
      case "ping":
        this.#send({ type: "pong" });
        break;
      case "stop":
        void this.#stop();
        break;
    }
  }

  /** Sends a frame; error texts go out without the secret. */
  #send(frame: FromAdapter): void {
    const record = "error" in frame ? frame.error : undefined;
    if (record === undefined || record === null) this.#port.send(frame);
    else this.#port.send({ ...frame, error: redactRecord(record, this.#redact) } as FromAdapter);
  }

  /** Connects and polls until the child ends; every failure is told and followed by a pause. */
  async #live(launch: ChannelLaunch): Promise<void> {
    const signal = this.#polling.signal;
    let failures = 0;
    while (!signal.aborted) {
      try {
        const transport = this.#transport ?? (await this.#open(launch));
        if (transport === null) return;
        await this.#pollOnce(transport, signal);
        failures = 0;
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        await pause(this.#failed(error, failures), signal);
      }
    }
  }

  /** Connects anew, with the secret as its file has it now. Null when the child must be started again instead. */
  async #open(launch: ChannelLaunch): Promise<Transport | null> {
    const secret = launch.tokenFile === null ? null : readSecret(launch.tokenFile);
    this.#redact = redactor(secret);
    const transport = await this.#connect(launch, secret, {
      closing: this.#closing.signal,
      note: this.#note,
      report: (frame) => this.#send(frame),
    });
    if (this.#polling.signal.aborted) {
      transport.close();
      return null;
    }
    const { id, name } = transport.account;
    if (this.#account !== null && this.#account !== id) {
      // Update ids and messages belong to a bot: another one needs a launch with a cursor of its own.
      transport.close();
      this.#send({ type: "exiting", reason: "the token now belongs to another account" });
      this.#port.close();
      return null;
    }
    this.#transport = transport;
    if (this.#account === null) this.#send({ type: "ready", account: { id, name } });
    this.#account = id;
    return transport;
  }

  async #pollOnce(transport: Transport, signal: AbortSignal): Promise<void> {
    const updates = await transport.poll(this.#cursor, signal);
    if (signal.aborted) return;
    this.#send({ type: "health", ok: true, pendingUpdates: updates.length, error: null });
    for (const update of updates) {
      await this.#inbox.handOver(transport, update);
      // The last one handled, not a maximum: ids of a service may begin anew.
      this.#cursor = update.updateId;
      if (signal.aborted) return;
    }
  }

  /** Tells the server, and returns how long to wait. */
  #failed(error: unknown, failures: number): number {
    const { secretAgainMs, backoffMinMs, backoffMaxMs } = this.#times;
    const record = toErrorRecord(error, "channelUnreachable");
    this.#problem = redactRecord(record, this.#redact);
    this.#send({ type: "health", ok: false, pendingUpdates: null, error: record });
    void this.#tellWaiting(record);
    this.#note(`${record.code} ${record.message}`);
    if (error instanceof ChannelProblem && error.secretRefused) {
      const refused = this.#transport;
      this.#transport = null;
      if (refused) void this.#closeWhenIdle(refused);
      return secretAgainMs;
    }
    if (isHoldpointError(error) && error.kind === "tokenFile") return secretAgainMs;
    const asked = error instanceof ChannelProblem ? error.waitMs : undefined;
    return asked ?? Math.min(backoffMaxMs, backoffMinMs * 2 ** Math.min(failures - 1, 20));
  }

  /** While nothing is read, what piles up at the service is worth knowing. */
  async #tellWaiting(error: ErrorRecord): Promise<void> {
    const transport = this.#transport;
    const waiting = (await transport?.waiting?.()) ?? null;
    if (waiting === null || this.#port.closed || this.#transport !== transport) return;
    this.#send({ type: "health", ok: false, pendingUpdates: waiting, error });
  }

  /** Attempts under way end by themselves, each with its own refusal. */
  async #closeWhenIdle(transport: Transport): Promise<void> {
    await this.#attempts.idle();
    transport.close();
  }

  async #stop(): Promise<void> {
    this.#polling.abort();
    await this.#attempts.stop();
    this.#send({ type: "exiting", reason: "stopped" });
    this.#port.close();
  }
}

/** Waits, or ends at once when `signal` aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
