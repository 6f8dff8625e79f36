/**
 * The outgoing stream of steps: gathers them into frames, bounds what is not acknowledged, and knows when everything is
 * durable.
 */
import { ADVANCE, WIRE } from "../contracts/limits.ts";
import type { FromRunner, StepEntry } from "../contracts/protocol/runner.ts";

/** Room in a frame for its envelope. */
const ENVELOPE_BYTES = 4_096;

export type StepFrame = Extract<FromRunner, { type: "advance" }>;
/** What is said of the effect of a step, and the reservation of the node after one. */
export type Settle = NonNullable<StepFrame["settle"]>;
export type Reserve = NonNullable<StepFrame["reserve"]>;

export class StepStream {
  readonly #send: (...frames: StepFrame[]) => void;
  /** Full frames that wait for company: together they are one write here, and one commit there. */
  #full: StepFrame[] = [];
  #batch: StepEntry[] = [];
  #batchBytes = 0;
  /** Goes with the first step of the batch. */
  #settle: Settle | undefined;
  /** Not yet acknowledged, oldest first; those of the batch included. */
  #open: { readonly step: number; readonly bytes: number }[] = [];
  #openBytes = 0;
  #flushSoon = false;
  #room: (() => void)[] = [];
  #durable: (() => void)[] = [];

  /** `send` puts frames on the wire in one write. */
  constructor(send: (...frames: StepFrame[]) => void) {
    this.#send = send;
  }

  /**
   * Takes a step, with what is said of its effect if it was an action; a promise when the window is full, which resolves when it has
   * room again.
   */
  push(entry: StepEntry, bytes: number, settle?: Settle): void | Promise<void> {
    if (settle !== undefined || this.#batchBytes + bytes > WIRE.frameBytes - ENVELOPE_BYTES) this.#close();
    this.#settle ??= settle;
    this.#batch.push(entry);
    this.#batchBytes += bytes;
    this.#open.push({ step: entry.step, bytes });
    this.#openBytes += bytes;
    if (this.#windowFull) {
      this.flush();
      return new Promise((resolve) => this.#room.push(resolve));
    }
    if (this.#batch.length >= ADVANCE.entriesPerFrame) this.#close();
    if (this.#full.length >= ADVANCE.framesPerWrite) this.flush();
    else this.#scheduleFlush();
  }

  /** Sends what was gathered. */
  flush(): void {
    this.#close();
    if (this.#full.length > 0) this.#send(...this.#full.splice(0));
  }

  /** Sends what was gathered with a reservation of so many bytes behind its last step; false when there is no step that can carry it. */
  carry(reserve: Reserve, bytes: number): boolean {
    const carries = this.#batch.length > 0 && this.#batchBytes + bytes <= WIRE.frameBytes - ENVELOPE_BYTES;
    this.#close(carries ? reserve : undefined);
    this.flush();
    return carries;
  }

  /** What was gathered becomes a frame. */
  #close(reserve?: Reserve): void {
    const first = this.#batch[0];
    if (first === undefined) return;
    const settle = this.#settle;
    this.#full.push({
      type: "advance",
      first: first.step,
      entries: this.#batch,
      ...(settle === undefined ? {} : { settle }),
      ...(reserve === undefined ? {} : { reserve }),
    });
    this.#batch = [];
    this.#batchBytes = 0;
    this.#settle = undefined;
  }

  /** Resolves when every step so far is durable, or was taken back. */
  async barrier(): Promise<void> {
    this.flush();
    if (this.#open.length > 0) await new Promise<void>((resolve) => this.#durable.push(resolve));
  }

  /** Steps up to and including `through` are durable. */
  acknowledge(through: number): void {
    let count = 0;
    for (const sent of this.#open) {
      if (sent.step > through) break;
      this.#openBytes -= sent.bytes;
      count++;
    }
    this.#open.splice(0, count);
    this.#letGo();
  }

  /** Steps from `from` on were refused. */
  rewind(from: number): void {
    this.#full = [];
    this.#batch = [];
    this.#batchBytes = 0;
    this.#settle = undefined;
    this.#open = this.#open.filter(({ step }) => step < from);
    this.#openBytes = this.#open.reduce((sum, { bytes }) => sum + bytes, 0);
    this.#letGo();
  }

  get #windowFull(): boolean {
    return this.#open.length >= ADVANCE.unackedSteps || this.#openBytes >= ADVANCE.unackedBytes;
  }

  /** A step never waits for company longer than one turn of the event loop. */
  #scheduleFlush(): void {
    if (this.#flushSoon) return;
    this.#flushSoon = true;
    setImmediate(() => {
      this.#flushSoon = false;
      this.flush();
    });
  }

  #letGo(): void {
    if (!this.#windowFull) for (const resolve of this.#room.splice(0)) resolve();
    if (this.#open.length === 0) for (const resolve of this.#durable.splice(0)) resolve();
  }
}
