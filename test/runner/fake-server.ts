// The server's side of runner.v1 for tests: keeps every frame, checked by the schemas in both directions, and plays a
// simple server that acknowledges all steps unless told otherwise.
import { EventEmitter, once } from "node:events";
import {
  fromRunnerSchema,
  toRunnerSchema,
  type FromRunner,
  type ToRunner,
} from "../../src/contracts/protocol/runner.ts";
import { encodeFrame, type FramePort } from "../../src/contracts/wire/frames.ts";

type FrameOf<T extends FromRunner["type"]> = Extract<FromRunner, { type: T }>;

export class FakeServer {
  readonly frames: FromRunner[] = [];
  /** What to say to a frame; the default plays along. */
  respond: (frame: FromRunner) => ToRunner[] = (frame) => this.playAlong(frame);
  startAt = "a";
  /** The highest step acknowledged. */
  acknowledged = -1;
  readonly #arrived = new EventEmitter();
  readonly #port: { send(frame: ToRunner): void };

  constructor(port: { send(frame: ToRunner): void }) {
    this.#port = port;
    this.#arrived.setMaxListeners(0);
  }

  send(frame: ToRunner): void {
    toRunnerSchema.parse(frame);
    this.#port.send(frame);
  }

  take(frame: FromRunner): void {
    this.frames.push(frame);
    for (const answer of this.respond(frame)) this.send(answer);
    this.#arrived.emit("frame");
  }

  playAlong(frame: FromRunner): ToRunner[] {
    switch (frame.type) {
      case "ready": {
        const position = { nodeId: this.startAt, step: 0, visit: 1, interrupted: false };
        return [{ type: "go", position, visits: {} }];
      }
      case "advance":
        if (frame.reserve === undefined) return [this.ack(frame)];
        return [this.ack(frame), reserved(frame.reserve.messageId)];
      case "effect.reserve":
        return [reserved(frame.messageId)];
      case "effect.settle":
        return [{ type: "reply", messageId: frame.messageId, ok: true, result: { attempt: frame.attempt } }];
      case "decision":
      case "finish":
        return [{ type: "reply", messageId: frame.messageId, ok: true }];
      default:
        return [];
    }
  }

  ack(frame: FrameOf<"advance">): ToRunner {
    this.acknowledged = frame.first + frame.entries.length - 1;
    return { type: "ack", through: this.acknowledged };
  }

  /** The frames of a type so far. */
  all<T extends FromRunner["type"]>(type: T): FrameOf<T>[] {
    return this.frames.filter((frame): frame is FrameOf<T> => frame.type === type);
  }

  /** Waits until `count` frames of a type have come; the last of them. */
  async until<T extends FromRunner["type"]>(type: T, count = 1): Promise<FrameOf<T>> {
    while (this.all(type).length < count) await once(this.#arrived, "frame");
    return this.all(type)[count - 1] as FrameOf<T>;
  }
}

function reserved(messageId: number): ToRunner {
  return { type: "effect.reserved", messageId, effectId: "effect-1", key: "key-1", attempt: 1, state: "fresh" };
}

/** A port in memory and the server at its other end. Frames cross in later turns, as over a pipe. */
export function connect(): { port: FramePort<ToRunner, FromRunner>; server: FakeServer } {
  let listener: ((frame: ToRunner) => void) | undefined;
  const server = new FakeServer({
    send: (frame) => void setImmediate(() => listener?.(toRunnerSchema.parse(JSON.parse(encodeFrame(frame))))),
  });
  const port: FramePort<ToRunner, FromRunner> = {
    send(...frames) {
      for (const text of frames.map(encodeFrame))
        setImmediate(() => server.take(fromRunnerSchema.parse(JSON.parse(text))));
    },
    close: () => undefined,
    onFrame: (next) => void (listener = next),
    onClose: () => undefined,
    closed: false,
    backlog: 0,
  };
  return { port, server };
}
