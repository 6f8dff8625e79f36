/**
 * One connection of the extension in a Pi session, after its hello: what is known of the session, and one delivery at a time. What was sent is
 * believed only when it is on the session's tree and the session has a file; until then it is looked for before anything is sent again.
 */
import { PI_LINK } from "../../../src/contracts/limits.ts";
import type { Delivery } from "../../../src/contracts/pi/session-message.ts";
import type { FromExtension, LinkReport, ToExtension } from "../../../src/contracts/protocol/pi-link.ts";
import type { FramePort } from "../../../src/contracts/wire/frames.ts";

type Hello = Extract<FromExtension, { type: "hello" }>;
type Delivered = Extract<FromExtension, { type: "delivered" }>;
type Standing = Pick<Extract<LinkReport, { type: "standing" }>, "idle" | "pendingInput" | "durable">;

/** What became of a delivery. `away`: nothing is known to have been sent; it is tried again when the session tells that it is ready. */
export type DeliveryResult =
  | { readonly kind: "there"; readonly entryId: string }
  | { readonly kind: "away"; readonly why: string }
  /** It is there and the session has no file yet: it may be lost with it. Nothing that follows has to wait. */
  | { readonly kind: "unsaved"; readonly why: string }
  | { readonly kind: "failed"; readonly why: string };

export class PiSession {
  readonly hello: Hello;
  readonly epoch: number;
  readonly port: FramePort<FromExtension, ToExtension>;
  /** It said goodbye. */
  parted = false;
  /** Hidden id → entry, of what is on the tree. */
  readonly #seen = new Map<string, string>();
  #standing: Standing | null = null;
  /** Its first branch is stored, so that deliveries may be offered. */
  #open = false;
  /** Something came before that. */
  #turnedAway = false;
  #waiting: { readonly messageId: string; readonly resolve: (delivered: Delivered | null) => void } | null = null;

  constructor(hello: Hello, epoch: number, port: FramePort<FromExtension, ToExtension>) {
    this.hello = hello;
    this.epoch = epoch;
    this.port = port;
  }

  get place(): string {
    return this.hello.sessionId;
  }

  /** Sends a frame, unless the extension reads nothing any more: then it is disconnected, and gets everything anew when it returns. */
  send(frame: ToExtension): void {
    if (this.port.backlog > PI_LINK.backlogBytes) return this.port.close();
    this.port.send(frame);
  }

  /** Takes note of what the session reports of itself. */
  note(report: LinkReport): void {
    if (report.type !== "branch" && report.type !== "standing") return;
    const { durable, idle, pendingInput } = report;
    this.#standing = { durable, idle, pendingInput };
    if (report.type !== "branch") return;
    if (report.full) this.#seen.clear();
    for (const { entryId, messageId } of report.seen) this.#seen.set(messageId, entryId);
  }

  /**
   * Deliveries may be offered from now on. Returns what the server must hear once more, or null: it told us so before it could hear that
   * something was turned away, and would offer that again only when the session says that it is ready.
   */
  opened(): LinkReport | null {
    this.#open = true;
    const again = this.#turnedAway ? this.#standing : null;
    this.#turnedAway = false;
    return again === null ? null : { type: "standing", ...again };
  }

  get ready(): boolean {
    return this.#open && this.#standing?.idle === true && !this.#standing.pendingInput;
  }

  /** Puts something into the session unless it is there already. Never rejects. */
  async deliver(delivery: Delivery): Promise<DeliveryResult> {
    const { messageId } = delivery;
    if (!this.#open) {
      this.#turnedAway = true;
      return { kind: "away", why: "The session has not told yet what is in it." };
    }
    const known = this.#seen.get(messageId);
    if (known !== undefined) return this.#there(known);
    if (!this.ready) return { kind: "away", why: "The session is busy." };
    const delivered = await this.#offer(delivery);
    if (delivered === null) return { kind: "away", why: "The session did not say what became of it." };
    if (this.#standing !== null) this.#standing = { ...this.#standing, durable: delivered.durable };
    if (delivered.result === "busy") return { kind: "away", why: "The session is busy." };
    if (delivered.result === "failed" || delivered.entryId === null)
      return { kind: "failed", why: delivered.error ?? "Pi did not take it." };
    this.#seen.set(messageId, delivered.entryId);
    return this.#there(delivered.entryId);
  }

  /** The extension's word on a delivery; one that nobody waits for any more only tells what is on the tree. */
  delivered(frame: Delivered): void {
    const waiting = this.#waiting;
    if (waiting?.messageId === frame.messageId) {
      this.#waiting = null;
      return waiting.resolve(frame);
    }
    if (frame.entryId !== null && (frame.result === "sent" || frame.result === "present"))
      this.#seen.set(frame.messageId, frame.entryId);
  }

  /** The connection is gone. */
  ended(): void {
    this.#open = false;
    this.#waiting?.resolve(null);
    this.#waiting = null;
  }

  #there(entryId: string): DeliveryResult {
    return this.#standing?.durable === true
      ? { kind: "there", entryId }
      : { kind: "unsaved", why: "The session has no file yet, so that what is in it could still be lost." };
  }

  #offer(delivery: Delivery): Promise<Delivered | null> {
    return new Promise((resolve) => {
      const guard = setTimeout(() => {
        if (this.#waiting?.messageId === delivery.messageId) this.#waiting = null;
        resolve(null);
      }, PI_LINK.deliverMs);
      this.#waiting = {
        messageId: delivery.messageId,
        resolve: (delivered) => {
          clearTimeout(guard);
          resolve(delivered);
        },
      };
      this.send({ type: "deliver", delivery });
    });
  }
}
