/**
 * A Pi session as its extension presents it, without Pi: a tree of entries that outlives connections (or does not, while it has no file), and the
 * extension's side of pi-link over a real socket. It does what the protocol asks of an extension, and what a test tells it to.
 */
import { connect, type Socket } from "node:net";
import type { Delivery } from "../../src/contracts/pi/session-message.ts";
import type { SessionView } from "../../src/contracts/pi/session-view.ts";
import {
  PI_LINK_PROTOCOL,
  toExtensionSchema,
  type FromExtension,
  type ToExtension,
} from "../../src/contracts/protocol/pi-link.ts";
import { framePort, type FramePort } from "../../src/contracts/wire/frames.ts";

type Frame<T extends ToExtension["type"]> = Extract<ToExtension, { type: T }>;
/** `Omit` over each member, so that the union stays one. */
type Uncalled<T> = T extends { callId: string } ? Omit<T, "callId"> : never;

export interface Entry {
  readonly entryId: string;
  readonly delivery: Delivery;
}

/** What Pi keeps of a session. */
export class SessionFile {
  readonly sessionId: string;
  /** Entries of ours, oldest first. */
  entries: Entry[] = [];
  durable: boolean;
  /** The turn that Pi is in, which outlives connections; reported with each branch. */
  turn: { readonly turnId: string; activeMs: number } | null = null;
  /** Beginnings and ends of turns that are not told yet. */
  kept = 0;
  #count = 0;

  constructor(sessionId: string, durable = true) {
    this.sessionId = sessionId;
    this.durable = durable;
  }

  append(delivery: Delivery): string {
    this.#count += 1;
    const entryId = `entry-${this.#count}`;
    this.entries.push({ entryId, delivery });
    return entryId;
  }

  /** Pi has quit: what had no file is lost. */
  quit(): void {
    if (!this.durable) this.entries = [];
    this.kept = 0;
    this.turn = null;
  }

  of(kind: Delivery["details"]["message"]["kind"]): Entry[] {
    return this.entries.filter(({ delivery }) => delivery.details.message.kind === kind);
  }
}

export interface SessionOptions {
  readonly mode?: "tui" | "rpc" | "json" | "print";
  readonly pid?: number;
  readonly instance?: string;
  /** Default: whether no turn is under way. */
  readonly idle?: boolean;
  readonly protocol?: number;
  /** What it does with a delivery; left out: it puts it on the tree and says so. */
  readonly onDeliver?: (delivery: Delivery, session: FakeSession) => void;
}

/** How long a test waits before it says that something hangs. */
const HANG_MS = 10_000;

let instances = 0;

export class FakeSession {
  readonly file: SessionFile;
  readonly frames: ToExtension[] = [];
  readonly closed: Promise<void>;
  view: SessionView | undefined;
  idle = true;
  pendingInput = false;
  /** Turns that began, with the message that began them. */
  readonly turns: { turnId: string; messageId: string | null }[] = [];
  onDeliver: SessionOptions["onDeliver"];
  readonly #socket: Socket;
  readonly #port: FramePort<ToExtension, FromExtension>;
  readonly #instance: string;
  #calls = 0;
  #listeners: (() => void)[] = [];
  #over = false;
  #why = "";

  private constructor(socket: Socket, file: SessionFile, options: SessionOptions) {
    this.#socket = socket;
    this.file = file;
    this.#instance = options.instance ?? `i-${(instances += 1)}`;
    this.onDeliver = options.onDeliver;
    this.idle = options.idle ?? file.turn === null;
    this.#port = framePort<ToExtension, FromExtension>(socket, toExtensionSchema);
    this.closed = new Promise((resolve) =>
      this.#port.onClose((error) => {
        this.#why = error === undefined ? "" : ` (${error.message})`;
        this.#over = true;
        this.#wake();
        resolve();
      }),
    );
    this.#port.onFrame((frame) => this.#take(frame));
  }

  /** Connects and says hello; nothing more. */
  static async greet(path: string, file: SessionFile, options: SessionOptions = {}): Promise<FakeSession> {
    const socket = connect(path);
    await new Promise<void>((resolve, reject) => {
      socket.once("connect", resolve);
      socket.once("error", reject);
    });
    const session = new FakeSession(socket, file, options);
    session.#port.send({
      type: "hello",
      protocol: options.protocol ?? PI_LINK_PROTOCOL,
      product: "0.0.0",
      installPath: "/",
      piVersion: "1.6.0",
      sessionId: file.sessionId,
      instance: session.#instance,
      pid: options.pid ?? process.pid,
      cwd: "/",
      mode: options.mode ?? "tui",
    });
    return session;
  }

  /** Connects, gets its view, reports its tree, and is ready for deliveries. */
  static async open(path: string, file: SessionFile, options: SessionOptions = {}): Promise<FakeSession> {
    const session = await FakeSession.greet(path, file, options);
    await session.until(() => session.view !== undefined, "the first view");
    await session.branch();
    return session;
  }

  /** Resolves when `test` holds; looked at after every frame. */
  async until(test: () => boolean, what: string): Promise<void> {
    const since = Date.now();
    const said = (): string => `${what} did not come: ${JSON.stringify([this.view?.run, this.frames.slice(-4)])}`;
    while (!test()) {
      if (Date.now() - since > HANG_MS) throw new Error(said());
      if (this.#over)
        throw new Error(`the connection ended${this.#why} before ${what}: ${JSON.stringify(this.frames.slice(-4))}`);
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, HANG_MS);
        this.#listeners.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Calls and waits for the reply. */
  async call(frame: Uncalled<FromExtension>): Promise<Frame<"reply">> {
    const callId = `c-${(this.#calls += 1)}`;
    this.#port.send({ ...frame, callId });
    const found = (): Frame<"reply"> | undefined =>
      this.frames.find((one): one is Frame<"reply"> => one.type === "reply" && one.callId === callId);
    await this.until(() => found() !== undefined, `the reply to ${frame.type}`);
    return found() as Frame<"reply">;
  }

  send(frame: FromExtension): void {
    this.#port.send(frame);
  }

  branch(): Promise<Frame<"reply">> {
    const seen = this.file.entries.map(({ delivery, entryId }) => ({
      messageId: delivery.messageId,
      entryId,
      onBranch: true,
    }));
    const { kept, turn } = this.file;
    return this.call({ type: "branch", full: true, seen, leaf: null, turn, kept, ...this.#standing });
  }

  standing(change: { idle?: boolean; pendingInput?: boolean } = {}): void {
    this.idle = change.idle ?? this.idle;
    this.pendingInput = change.pendingInput ?? this.pendingInput;
    this.#port.send({ type: "standing", ...this.#standing });
  }

  /** Waits until the session has something of this kind, the `count`th, and returns it. */
  async has(kind: Delivery["details"]["message"]["kind"], count = 1): Promise<Entry> {
    await this.until(() => this.file.of(kind).length >= count, `${kind} ${count}`);
    return this.file.of(kind)[count - 1] as Entry;
  }

  /** The agent begins a turn because of a message of ours, or of something else. */
  async beginTurn(messageId: string | null): Promise<string> {
    const turnId = `${this.#instance}:${this.turns.length + 1}`;
    this.turns.push({ turnId, messageId });
    this.file.turn = { turnId, activeMs: 0 };
    this.standing({ idle: false });
    const cause = messageId === null ? ({ kind: "user" } as const) : ({ kind: "message", messageId } as const);
    await this.call({ type: "turn.start", turnId, cause });
    return turnId;
  }

  async endTurn(
    turnId: string,
    end: { stop?: "completed" | "aborted" | "error"; text?: string; error?: string; activeMs?: number } = {},
  ): Promise<void> {
    const { activeMs = 0, error = null, stop = "completed", text = null } = end;
    this.file.turn = null;
    await this.call({ type: "turn.end", turnId, stop, error, responseEntryId: null, activeMs, text });
    this.standing({ idle: true });
  }

  submit(requestId: string, output: unknown, toolCallId = `t-${(this.#calls += 1)}`): Promise<Frame<"reply">> {
    return this.call({ type: "submit", toolCallId, requestId, output: output as never });
  }

  /** As when Pi is killed: no goodbye. */
  kill(): void {
    this.#socket.destroy();
    this.file.quit();
  }

  /** Parts in good order, as when Pi quits. */
  bye(): void {
    this.file.turn = null;
    this.#port.send({ type: "bye", reason: "quit" });
  }

  /** The connection is lost; Pi goes on. */
  disconnect(): void {
    this.#socket.destroy();
  }

  get #standing(): { idle: boolean; pendingInput: boolean; durable: boolean } {
    return { idle: this.idle, pendingInput: this.pendingInput, durable: this.file.durable };
  }

  #take(frame: ToExtension): void {
    this.frames.push(frame);
    if (frame.type === "view") this.view = frame.view;
    if (frame.type === "deliver") (this.onDeliver ?? deliver)(frame.delivery, this);
    this.#wake();
  }

  #wake(): void {
    for (const listener of this.#listeners.splice(0)) listener();
  }

  /** Answers a delivery. */
  delivered(delivery: Delivery, result: "sent" | "present" | "busy" | "failed", entryId: string | null): void {
    const { durable } = this.file;
    this.#port.send({ type: "delivered", messageId: delivery.messageId, result, entryId, durable, error: null });
  }
}

/** What the extension does: looks, puts it on the tree, and says so. */
export function deliver(delivery: Delivery, session: FakeSession): void {
  const before = session.file.entries.find((entry) => entry.delivery.messageId === delivery.messageId);
  if (before !== undefined) return session.delivered(delivery, "present", before.entryId);
  if (!session.idle || session.pendingInput) return session.delivered(delivery, "busy", null);
  session.delivered(delivery, "sent", session.file.append(delivery));
}
