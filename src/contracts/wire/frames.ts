/**
 * Bounded NDJSON frames over a stream: one JSON object per line, strictly validated on both sides.
 * A frame that is too large or invalid is reported once and ends the conversation; it is never skipped.
 */
import type { Duplex } from "node:stream";
import type { z } from "zod";
import { HoldpointError } from "../errors.ts";
import { WIRE } from "../limits.ts";

/** Splits incoming bytes into lines of at most `limit` bytes. `push` throws `frameTooLarge` as soon as a line is longer. */
export class LineSplitter {
  #rest: Buffer[] = [];
  #restBytes = 0;
  readonly #limit: number;

  constructor(limit: number = WIRE.frameBytes) {
    this.#limit = limit;
  }

  /** Returns the complete lines, without their newline; bytes of an unfinished line are kept. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10, start); end !== -1; end = chunk.indexOf(10, start)) {
      const piece = chunk.subarray(start, end);
      this.#check(this.#restBytes + piece.length);
      lines.push(
        this.#restBytes === 0 ? piece.toString("utf8") : Buffer.concat([...this.#rest, piece]).toString("utf8"),
      );
      this.#rest = [];
      this.#restBytes = 0;
      start = end + 1;
    }
    if (start < chunk.length) {
      const piece = chunk.subarray(start);
      this.#restBytes += piece.length;
      this.#check(this.#restBytes);
      this.#rest.push(piece);
    }
    return lines;
  }

  #check(bytes: number): void {
    if (bytes > this.#limit) {
      throw new HoldpointError(
        "frameTooLarge",
        `A frame of more than ${bytes} bytes was received; the limit is ${this.#limit}.`,
        {
          details: { limit: this.#limit, seen: bytes },
        },
      );
    }
  }
}

/** One line for the wire. Throws `frameTooLarge` with the size seen, before anything is written. */
export function encodeFrame(frame: unknown): string {
  const text = `${JSON.stringify(frame)}\n`;
  const bytes = Buffer.byteLength(text);
  if (bytes > WIRE.frameBytes) {
    throw new HoldpointError(
      "frameTooLarge",
      `A frame of ${bytes} bytes cannot be sent; the limit is ${WIRE.frameBytes}.`,
      {
        details: { limit: WIRE.frameBytes, seen: bytes },
      },
    );
  }
  return text;
}

/** Parses one line strictly by its schema; the error names the first wrong field. */
export function decodeFrame<T>(line: string, schema: z.ZodType<T>): T {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    throw new HoldpointError("frameInvalid", `A frame is not JSON: ${line.slice(0, 80)}`);
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const type = typeof value === "object" && value !== null && "type" in value ? String(value.type) : "?";
  throw new HoldpointError(
    "frameInvalid",
    `Frame "${type}" is invalid at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? "unknown"}`,
  );
}

export interface FramePort<In, Out> {
  /**
   * Queues frames, several in one write: each wakes the other side. Throws `frameTooLarge`, and then sends none of them.
   * Frames after close are dropped.
   */
  send(...frames: Out[]): void;
  close(): void;
  /** Replaces the listener; frames that came before one was set are delivered to it first, in order. */
  onFrame(listener: (frame: In) => void): void;
  /** Called once, with the error if the conversation ended by one. */
  onClose(listener: (error?: Error) => void): void;
  readonly closed: boolean;
  /** Bytes that wait because the other side does not read. */
  readonly backlog: number;
}

export interface FramePortOptions {
  /**
   * Frames sent in one turn of the event loop go out in one write at its end. For a side that answers many frames at once and
   * never works long without giving way; a side that does would keep its frames to itself meanwhile.
   */
  readonly gather?: boolean;
}

/** Wraps a duplex stream (a pipe or socket) as a frame port that reads `In` by `schema` and writes `Out`. */
export function framePort<In, Out>(
  stream: Duplex,
  schema: z.ZodType<In>,
  { gather = false }: FramePortOptions = {},
): FramePort<In, Out> {
  const splitter = new LineSplitter();
  const early: In[] = [];
  let listener: ((frame: In) => void) | undefined;
  const closers: ((error?: Error) => void)[] = [];
  let closed = false;
  let cause: Error | undefined;

  const finish = (error?: Error): void => {
    if (closed) return;
    closed = true;
    cause = error;
    stream.destroy();
    for (const closer of closers.splice(0)) closer(error);
  };
  stream.on("data", (chunk: Buffer) => {
    if (closed) return;
    try {
      for (const line of splitter.push(chunk)) {
        const frame = decodeFrame(line, schema);
        if (listener) listener(frame);
        else early.push(frame);
        if (closed) return;
      }
    } catch (error) {
      finish(error instanceof Error ? error : new Error(String(error)));
    }
  });
  stream.on("error", (error) => finish(error));
  stream.on("end", () => finish());
  stream.on("close", () => finish());

  let gathered = "";
  const flush = (): void => {
    const text = gathered;
    gathered = "";
    if (text !== "" && !closed) stream.write(text);
  };

  return {
    send(...frames) {
      const text = frames.map(encodeFrame).join("");
      if (closed) return;
      if (!gather) return void stream.write(text);
      if (gathered === "") process.nextTick(flush);
      gathered += text;
    },
    close() {
      if (closed) return;
      flush();
      stream.end();
      finish();
    },
    onFrame(next) {
      listener = next;
      for (const frame of early.splice(0)) next(frame);
    },
    onClose(closer) {
      if (closed) closer(cause);
      else closers.push(closer);
    },
    get closed() {
      return closed;
    },
    get backlog() {
      return stream.writableLength + gathered.length;
    },
  };
}
