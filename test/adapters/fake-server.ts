/** The server's side of channel.v1, written out by hand: a test says every word of it. */
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect as openSocket, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { AdapterLoop, type LoopTimes } from "../../adapters/channel.ts";
import type { Connect } from "../../adapters/channel/transport.ts";
import {
  fromAdapterSchema,
  toAdapterSchema,
  type ChannelLaunch,
  type FromAdapter,
  type Perform,
  type ToAdapter,
} from "../../src/contracts/protocol/channel.ts";
import { framePort, type FramePort } from "../../src/contracts/wire/frames.ts";

type FrameOf<T extends FromAdapter["type"]> = Extract<FromAdapter, { type: T }>;
type Attempt = Pick<Perform, "effectId" | "attempt">;

export class FakeServer {
  /** Everything the child said, in order. */
  readonly frames: FromAdapter[] = [];
  readonly closed: Promise<Error | undefined>;
  readonly #port: FramePort<FromAdapter, ToAdapter>;
  readonly #untaken: FromAdapter[] = [];
  #listeners: (() => void)[] = [];
  #over = false;

  constructor(port: FramePort<FromAdapter, ToAdapter>) {
    this.#port = port;
    port.onFrame((frame) => {
      this.frames.push(frame);
      this.#untaken.push(frame);
      this.#wake();
    });
    this.closed = new Promise((resolve) =>
      port.onClose((error) => {
        this.#over = true;
        this.#wake();
        resolve(error);
      }),
    );
  }

  send(frame: ToAdapter): void {
    this.#port.send(frame);
  }

  /** The first frame of this type that was not taken yet; waits for it. */
  async take<T extends FromAdapter["type"]>(
    type: T,
    test: (frame: FrameOf<T>) => boolean = () => true,
  ): Promise<FrameOf<T>> {
    for (;;) {
      const at = this.#untaken.findIndex((frame) => frame.type === type && test(frame as FrameOf<T>));
      if (at !== -1) return this.#untaken.splice(at, 1)[0] as FrameOf<T>;
      if (this.#over)
        throw new Error(`The conversation ended without "${type}"; it had ${JSON.stringify(this.frames)}`);
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
  }

  /** How many frames of a type came so far. */
  count(type: FromAdapter["type"]): number {
    return this.frames.filter((frame) => frame.type === type).length;
  }

  permit({ effectId, attempt }: Attempt, part: number, go = true): void {
    this.send({ type: "permit", effectId, attempt, part, go });
  }

  /** Grants and stores every part and the outcome of an attempt, as the server does; returns what was said about it. */
  async see(perform: Perform): Promise<{ parts: FrameOf<"part">[]; outcome: FrameOf<"outcome"> }> {
    const { effectId, attempt } = perform;
    const mine = (frame: Attempt): boolean => frame.effectId === effectId && frame.attempt === attempt;
    this.send(perform);
    const parts: FrameOf<"part">[] = [];
    for (;;) {
      const next = await Promise.race([
        this.#peek("dispatching", mine),
        this.#peek("part", mine),
        this.#peek("outcome", mine),
      ]);
      if (next.type === "dispatching") {
        const { part } = await this.take("dispatching", mine);
        this.permit(perform, part);
      } else if (next.type === "part") {
        const frame = await this.take("part", mine);
        parts.push(frame);
        this.send({ type: "partStored", effectId, attempt, part: frame.part });
      } else {
        const outcome = await this.take("outcome", mine);
        this.send({ type: "outcomeStored", effectId, attempt });
        return { parts, outcome };
      }
    }
  }

  verdict(updateId: number, ack: Extract<ToAdapter, { type: "verdict" }>["ack"] = null): void {
    this.send({ type: "verdict", updateId, verdict: "tested", ack, timeZone: "Europe/Berlin" });
  }

  close(): void {
    this.#port.close();
  }

  async #peek<T extends FromAdapter["type"]>(type: T, test: (frame: FrameOf<T>) => boolean): Promise<FrameOf<T>> {
    for (;;) {
      const found = this.#untaken.find((frame) => frame.type === type && test(frame as FrameOf<T>));
      if (found) return found as FrameOf<T>;
      if (this.#over) throw new Error(`The conversation ended; it had ${JSON.stringify(this.frames)}`);
      await new Promise<void>((resolve) => this.#listeners.push(resolve));
    }
  }

  #wake(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }
}

/** Pauses short enough to wait for. */
const TIMES: LoopTimes = { secretAgainMs: 20, backoffMinMs: 5, backoffMaxMs: 20 };

/** The loop in this process, and the server on the other end of its pipe. */
export interface LoopPair {
  readonly server: FakeServer;
  readonly loop: AdapterLoop;
  /** The diagnostic lines of the child. */
  readonly notes: string[];
}

export async function loopInProcess(connect: Connect, times: Partial<LoopTimes> = {}): Promise<LoopPair> {
  const [near, far] = await socketPair();
  const notes: string[] = [];
  const server = new FakeServer(framePort<FromAdapter, ToAdapter>(near, fromAdapterSchema));
  const port = framePort<ToAdapter, FromAdapter>(far, toAdapterSchema);
  const loop = new AdapterLoop(port, connect, { note: (text) => notes.push(text), times: { ...TIMES, ...times } });
  return { server, notes, loop };
}

/** Two ends of one real socket: closing behaves as it does on the child's pipe. */
export async function socketPair(): Promise<[Socket, Socket]> {
  const folder = mkdtempSync(join(tmpdir(), "hp-pair-"));
  const listener = createServer();
  listener.listen(join(folder, "s"));
  await once(listener, "listening");
  const near = openSocket(join(folder, "s"));
  const [far] = (await once(listener, "connection")) as [Socket];
  listener.close();
  rmSync(folder, { recursive: true });
  return [near, far];
}

export function launchFor(
  changes: Pick<ChannelLaunch, "channel" | "settings"> & Partial<ChannelLaunch>,
): ChannelLaunch {
  return {
    type: "launch",
    schema: "holdpoint.channel-launch.v1",
    protocol: 1,
    adapterEpoch: "a-1",
    tokenFile: null,
    cursor: null,
    channelEpoch: 1,
    commands: [],
    places: [],
    ...changes,
  };
}
