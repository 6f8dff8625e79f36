/**
 * Putting messages of ours into the session, each exactly once on its tree. The proof that one is there is its hidden id on an
 * entry; Pi's own call tells nothing. Between the last look and the call nothing waits, so nothing can come between.
 */
import { PI_LINK } from "../../../../src/contracts/limits.ts";
import type { Delivery } from "../../../../src/contracts/pi/session-message.ts";
import type { FromExtension } from "../../../../src/contracts/protocol/pi-link.ts";
import { entryWith } from "../hidden-id.ts";
import type { Life } from "../life.ts";
import type { PiApi, PiContext } from "../pi-api.ts";
import type { StandingWatch } from "../standing.ts";

type Delivered = Extract<FromExtension, { type: "delivered" }>;

export interface DeliveriesHost {
  readonly life: Life;
  readonly pi: Pick<PiApi, "sendMessage" | "appendEntry">;
  readonly standing: StandingWatch;
  readonly tell: (frame: Delivered) => void;
}

export class Deliveries {
  readonly #host: DeliveriesHost;
  /** Given to Pi and not seen on the tree yet. Pi keeps them in memory only. */
  readonly #queued = new Map<string, NodeJS.Timeout>();

  constructor(host: DeliveriesHost) {
    this.#host = host;
  }

  /** Puts one into the session, or says why not now. */
  deliver(delivery: Delivery): void {
    const { life } = this.#host;
    const context = life.context;
    if (context === undefined || this.#queued.has(delivery.messageId)) return;
    const { messageId } = delivery;
    const standing = this.#host.standing.now(context);
    const present = entryWith(context.sessionManager, messageId);
    if (present !== undefined) return this.#tell(messageId, "present", present, standing.durable);
    if (!standing.idle || standing.pendingInput) return this.#tell(messageId, "busy", null, standing.durable);
    try {
      this.#send(delivery);
    } catch (error) {
      return this.#tell(
        messageId,
        "failed",
        null,
        standing.durable,
        error instanceof Error ? error.message : String(error),
      );
    }
    const waiting = life.after(PI_LINK.deliverMs - PI_LINK.deliverMarginMs, "delivery", () => this.#late(messageId));
    this.#queued.set(messageId, waiting);
    this.look();
  }

  /** Looks for what was given to Pi; called at every event that may have put it on the tree. */
  look(): void {
    const context = this.#host.life.context;
    if (context === undefined || this.#queued.size === 0) return;
    for (const messageId of this.#queued.keys()) {
      const entryId = entryWith(context.sessionManager, messageId);
      if (entryId === undefined) continue;
      this.#forget(messageId);
      this.#tell(messageId, "sent", entryId, this.#host.standing.now(context).durable);
    }
  }

  #send({ content, customType, details, form, trigger }: Delivery): void {
    const { pi } = this.#host;
    if (form === "entry") pi.appendEntry(customType, details);
    else if (trigger)
      pi.sendMessage({ customType, content, display: true, details }, { triggerTurn: true, deliverAs: "followUp" });
    else pi.sendMessage({ customType, content, display: true, details });
  }

  /** It did not appear. As long as Pi may still bring it, nothing is said: the server counts it as not sent, and asks again. */
  #late(messageId: string): void {
    const context: PiContext | undefined = this.#host.life.context;
    this.look();
    if (context === undefined || !this.#queued.has(messageId)) return;
    this.#forget(messageId);
    this.#tell(messageId, "failed", null, this.#host.standing.now(context).durable, "Pi did not show it in time.");
  }

  #forget(messageId: string): void {
    this.#host.life.cancel(this.#queued.get(messageId));
    this.#queued.delete(messageId);
  }

  #tell(
    messageId: string,
    result: Delivered["result"],
    entryId: string | null,
    durable: boolean,
    error: string | null = null,
  ): void {
    this.#host.tell({ type: "delivered", messageId, result, entryId, durable, error: error?.slice(0, 2_000) ?? null });
  }
}
