/** One connection to the Pi adapter: the greeting, frames in both directions, replies to what was asked. It never reconnects. */
import { createConnection, type Socket } from "node:net";
import { HoldpointError, fromErrorRecord } from "../../../../src/contracts/errors.ts";
import { CLIENT } from "../../../../src/contracts/limits.ts";
import { toExtensionSchema, type FromExtension, type ToExtension } from "../../../../src/contracts/protocol/pi-link.ts";
import { framePort, type FramePort } from "../../../../src/contracts/wire/frames.ts";

export type Hello = Extract<FromExtension, { type: "hello" }>;
export type Reply = Extract<ToExtension, { type: "reply" }>;
/** A frame that is answered by a reply, without the id that the conversation gives it. */
export type Asking = Unaddressed<Extract<FromExtension, { callId: string }>>;
type Unaddressed<T> = T extends unknown ? Omit<T, "callId"> : never;

export interface Listener {
  onView(view: Extract<ToExtension, { type: "view" }>["view"]): void;
  onDeliver(delivery: Extract<ToExtension, { type: "deliver" }>["delivery"]): void;
}

/** Why a conversation ended for good: another instance speaks for the session, or this one was refused. */
export class Parted extends Error {}

export class Conversation {
  readonly #port: FramePort<ToExtension, FromExtension>;
  readonly #waiting = new Map<string, { resolve: (reply: Reply) => void; reject: (error: Error) => void }>();
  readonly #welcomed: Promise<void>;
  #welcome: () => void = () => {};
  #parted: Parted | undefined;
  #next = 0;

  private constructor(port: FramePort<ToExtension, FromExtension>, listener: Listener) {
    this.#port = port;
    this.#welcomed = new Promise((resolve) => (this.#welcome = resolve));
    port.onFrame((frame) => this.#take(frame, listener));
    port.onClose((error) => this.#lost(error));
  }

  /** Resolves after the welcome. Throws `Parted` when there is no use in trying again. */
  static async open(socketPath: string, hello: Hello, listener: Listener): Promise<Conversation> {
    const port = framePort<ToExtension, FromExtension>(await dial(socketPath), toExtensionSchema);
    const conversation = new Conversation(port, listener);
    port.send(hello);
    const timer = setTimeout(() => port.close(), CLIENT.connectMs);
    try {
      await Promise.race([conversation.#welcomed, conversation.ended.then((error) => Promise.reject(error))]);
    } finally {
      clearTimeout(timer);
    }
    return conversation;
  }

  get closed(): boolean {
    return this.#port.closed;
  }

  /** Resolves with the reason why it ended. */
  get ended(): Promise<Error> {
    return new Promise((resolve) => {
      this.#port.onClose((error) => resolve(this.#parted ?? unavailable(error?.message ?? "closed")));
    });
  }

  /** Asks and waits for the reply. Rejects when the connection ends before. */
  ask(asking: Asking): Promise<Reply> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(unavailable("closed"));
      const callId = `c-${++this.#next}`;
      this.#waiting.set(callId, { resolve, reject });
      try {
        this.#port.send({ ...asking, callId });
      } catch (error) {
        this.#waiting.delete(callId);
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    });
  }

  tell(frame: Extract<FromExtension, { type: "standing" | "delivered" | "bye" }>): void {
    if (!this.closed) this.#port.send(frame);
  }

  close(): void {
    this.#port.close();
  }

  #take(frame: ToExtension, listener: Listener): void {
    switch (frame.type) {
      case "view":
        return listener.onView(frame.view);
      case "deliver":
        return listener.onDeliver(frame.delivery);
      case "reply": {
        const waiting = this.#waiting.get(frame.callId);
        this.#waiting.delete(frame.callId);
        return waiting?.resolve(frame);
      }
      case "superseded":
        this.#parted = new Parted(`another Pi (pid ${frame.byPid}) speaks for this session now`);
        return this.#port.close();
      case "refused":
        this.#parted = new Parted(fromErrorRecord(frame.error).message);
        return this.#port.close();
      case "welcome":
        return this.#welcome();
    }
  }

  #lost(error: Error | undefined): void {
    for (const { reject } of this.#waiting.values()) reject(unavailable(error?.message ?? "closed"));
    this.#waiting.clear();
  }
}

function dial(socketPath: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(socketPath);
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
    socket.once("error", (error) => {
      socket.destroy();
      reject(unavailable(error.message));
    });
  });
}

function unavailable(why: string): HoldpointError {
  return new HoldpointError("serverUnavailable", `The Pi adapter cannot be reached: ${why}.`);
}
