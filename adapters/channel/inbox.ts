/**
 * Hands over what people sent: one update at a time, the next only after the verdict of the one before is stored.
 * A tap is acknowledged with its verdict, or with "received" when the verdict takes too long for a phone.
 */
import { HoldpointError, isHoldpointError } from "../../src/contracts/errors.ts";
import { DECISION } from "../../src/contracts/limits.ts";
import type { FromAdapter, Inbound, ToAdapter } from "../../src/contracts/protocol/channel.ts";
import type { Transport } from "./transport.ts";

type Verdict = Extract<ToAdapter, { type: "verdict" }>;

export class Inbox {
  readonly #send: (frame: FromAdapter) => void;
  readonly #acknowledgeMs: number;
  #waiting: { updateId: number; resolve: (verdict: Verdict) => void } | null = null;

  constructor(send: (frame: FromAdapter) => void, acknowledgeMs: number = DECISION.acknowledgeMs) {
    this.#send = send;
    this.#acknowledgeMs = acknowledgeMs;
  }

  /** Hands one update over and waits until its verdict is stored. */
  async handOver(transport: Transport, update: Inbound): Promise<void> {
    const verdict = new Promise<Verdict>((resolve) => {
      this.#waiting = { updateId: update.updateId, resolve };
    });
    this.#offer(update);
    if (update.kind === "choice") {
      // Its sender waits for the verdict, however long that takes.
      const { ack, timeZone, verdict: word } = await verdict;
      if (ack !== null) void transport.acknowledge(update, { code: ack, timeZone, verdict: word });
      return;
    }
    if (update.kind !== "answer") {
      await verdict;
      return;
    }
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      void transport.acknowledge(update, { code: { code: "received" }, timeZone: "UTC" });
    }, this.#acknowledgeMs);
    const { ack, language, timeZone } = await verdict;
    clearTimeout(timer);
    // Without a code the sender is to hear nothing at all.
    if (ack === null) return;
    if (!late) void transport.acknowledge(update, { code: ack, timeZone, language });
    // A tap can be acknowledged once; when that has happened, a message tells the verdict.
    else if (update.place !== null) {
      const { place, reference, topic, updateId } = update;
      this.#send({ type: "late", updateId, place, topic, reference });
    }
  }

  /** Takes the server's verdict. Throws `protocolRejected` when it is not for the update that was handed over. */
  verdict(verdict: Verdict): void {
    const waiting = this.#waiting;
    if (waiting?.updateId !== verdict.updateId) {
      const expected = waiting === null ? "none is expected" : `update ${waiting.updateId} is the one handed over`;
      throw new HoldpointError("protocolRejected", `A verdict on update ${verdict.updateId} came, but ${expected}.`);
    }
    this.#waiting = null;
    waiting.resolve(verdict);
  }

  #offer(update: Inbound): void {
    try {
      this.#send(update);
    } catch (error) {
      if (!isHoldpointError(error) || error.kind !== "frameTooLarge") throw error;
      const { type, updateId, digest, sentAt } = update;
      this.#send({ type, updateId, digest, sentAt, kind: "unreadable", what: "larger than a frame" });
    }
  }
}
