/**
 * Records what happens in the session while a run of it is under way, and sends it over the link: events of Pi, and its own entries word for word.
 * It stands beside everything else: what is too much is counted and left out, and an error in here ends the recording of this run and nothing more.
 */
import { PI_CAPTURE, PI_LINK } from "../../../src/contracts/limits.ts";
import type { SessionRecord } from "../../../src/contracts/pi/session-record.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import type { Life } from "./life.ts";
import type { Link } from "./link/link.ts";
import type { PiEvents, PiMessage } from "./pi-api.ts";
import { recordOf, type RecordedEvent } from "./recording.ts";
import type { TurnStart } from "./turns.ts";

export interface RecorderHost {
  readonly life: Life;
  readonly instance: string;
  readonly link: () => Pick<Link, "ask" | "live" | "last"> | undefined;
  readonly turn: () => TurnStart | undefined;
}

interface Queued {
  readonly record: SessionRecord;
  readonly text: string;
  /** The message whose entry is linked when it is on the branch. */
  readonly message: PiMessage | undefined;
}

export class Recorder {
  readonly #host: RecorderHost;
  #runId: string | undefined;
  /** The run has ended; its last turn has not. */
  #ending = false;
  /** Runs of which nothing more is taken. */
  #refused: string | undefined;
  #queue: Queued[] = [];
  #bytes = 0;
  #number = 0;
  #dropped = 0;
  #timer: NodeJS.Timeout | undefined;
  #sending = false;
  /** The newest entries that were there before. */
  #before: string[] = [];
  /** Entries that were recorded, or were there before. */
  readonly #known = new Set<string>();

  constructor(host: RecorderHost) {
    this.#host = host;
  }

  /** The run that is under way in this session, from the view. Waiting, pauses and restarts of the server end nothing. */
  follow({ run }: SessionView): void {
    this.#guarded(() => {
      const open = run !== null && run.summary.finishedAt === null ? run.summary.runId : undefined;
      if (open === this.#runId) return;
      if (open === undefined) {
        this.#ending = true;
        if (this.#host.turn() === undefined) this.#stop();
        return;
      }
      this.#stop();
      if (open !== this.#refused) this.#begin(open);
    });
  }

  event<K extends RecordedEvent>(event: K, payload: PiEvents[K]): void {
    if (this.#runId === undefined) return;
    this.#guarded(() => {
      const record = recordOf(event, payload, this.#host.turn());
      if (record === undefined) return;
      const message = event === "message_end" ? (payload as PiEvents["message_end"]).message : undefined;
      this.#put(record, message);
    });
  }

  /** An entry has come of which Pi tells nothing. */
  entries(): void {
    if (this.#runId !== undefined) this.#guarded(() => this.#later());
  }

  /** The agent has settled; nothing of an ended run follows. */
  settled(): void {
    if (this.#runId === undefined) return;
    this.#guarded(() => (this.#ending ? this.#stop() : this.#later()));
  }

  /** The session is about to end: what is left goes out without waiting for anything. */
  end(): void {
    if (this.#runId === undefined) return;
    const runId = this.#runId;
    this.#takeEntries();
    const frame = this.#frame(runId);
    if (frame !== undefined) this.#host.link()?.last(frame);
    this.#runId = undefined;
  }

  #begin(runId: string): void {
    const context = this.#host.life.context;
    if (context === undefined) return;
    this.#runId = runId;
    this.#ending = false;
    this.#number = 0;
    this.#dropped = 0;
    this.#queue = [];
    this.#bytes = 0;
    this.#known.clear();
    for (const { id } of context.sessionManager.getEntries()) this.#known.add(id);
    this.#before = context.sessionManager
      .getBranch()
      .slice(-PI_CAPTURE.before)
      .map(({ id }) => id);
  }

  /** What there is still goes out under the run's name. */
  #stop(): void {
    const runId = this.#runId;
    if (runId === undefined) return;
    this.#takeEntries();
    for (let frame = this.#frame(runId); frame !== undefined; frame = this.#frame(runId))
      void this.#host.link()?.ask(frame);
    this.#runId = undefined;
    this.#ending = false;
  }

  #put(record: SessionRecord, message?: PiMessage): void {
    const text = JSON.stringify(record.data) ?? "null";
    if (this.#queue.length >= PI_CAPTURE.queueRecords || this.#bytes + text.length > PI_CAPTURE.queueBytes) {
      this.#dropped += 1;
      return;
    }
    // Bytes as they are counted by their text: near enough for a bound.
    const fits = Buffer.byteLength(text) <= PI_CAPTURE.recordBytes;
    const kept = fits ? { ...record, data: JSON.parse(text) as SessionRecord["data"] } : tooLarge(record, text);
    this.#queue.push({ record: kept, text: fits ? text : "", message });
    this.#bytes += fits ? text.length : 0;
    this.#later();
  }

  #later(): void {
    if (this.#timer !== undefined || this.#sending) return;
    this.#timer = this.#host.life.after(PI_CAPTURE.flushMs, "recording", () => {
      this.#timer = undefined;
      this.#guarded(() => this.#flush());
    });
  }

  /** One frame at a time: a server that is slow is not flooded, and what waits is bounded. */
  #flush(): void {
    const runId = this.#runId;
    const link = this.#host.link();
    if (runId === undefined || this.#sending || link?.live !== true) return;
    this.#takeEntries();
    const frame = this.#frame(runId);
    if (frame === undefined) return;
    this.#sending = true;
    this.#host.life.begin("recording", async () => {
      const { ok } = await link.ask(frame).finally(() => (this.#sending = false));
      if (!ok && this.#runId === runId) {
        this.#refused = runId;
        this.#runId = undefined;
      } else if (this.#queue.length > 0) this.#later();
    });
  }

  /** Entries that have come since the last look stand before the records of events that are sent with them, so that links lead to something. */
  #takeEntries(): void {
    const session = this.#host.life.context?.sessionManager;
    if (session === undefined) return;
    const fresh = session.getBranch().filter(({ id }) => !this.#known.has(id));
    const waiting = this.#queue;
    this.#queue = [];
    for (const entry of fresh) {
      this.#known.add(entry.id);
      this.#put({ at: Date.now(), kind: "entry", entryId: entry.id, data: entry as unknown as SessionRecord["data"] });
    }
    const entryOf = new Map(fresh.map(({ id, message }) => [message, id]));
    const linked = new Set(this.#queue.map(({ record }) => record.entryId));
    for (const { message, record, text } of waiting) {
      const id = message === undefined ? undefined : entryOf.get(message);
      const entryId = id !== undefined && linked.has(id) ? id : record.entryId;
      this.#queue.push({ record: { ...record, entryId }, text, message: entryId === null ? message : undefined });
    }
  }

  #frame(runId: string): Parameters<Link["ask"]>[0] | undefined {
    const records: SessionRecord[] = [];
    let bytes = 0;
    while (this.#queue.length > 0 && records.length < PI_LINK.captureRecords) {
      const { record, text } = this.#queue[0] as Queued;
      if (records.length > 0 && bytes + Buffer.byteLength(text) > PI_CAPTURE.frameBytes) break;
      this.#queue.shift();
      this.#bytes -= text.length;
      bytes += Buffer.byteLength(text);
      records.push(record);
    }
    if (records.length === 0) return undefined;
    const first = this.#number;
    const dropped = this.#dropped;
    this.#number += records.length;
    this.#dropped = 0;
    const before = first === 0 ? { before: this.#before } : {};
    return { type: "capture", runId, instance: this.#host.instance, first, records, ...before, dropped };
  }

  /** An error of the recording ends the recording. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#refused = this.#runId;
      this.#runId = undefined;
      this.#host.life.trouble("recording", error);
    }
  }
}

function tooLarge(record: SessionRecord, text: string): SessionRecord {
  return { ...record, data: { omittedBytes: Buffer.byteLength(text) } };
}
