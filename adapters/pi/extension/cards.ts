/**
 * How the decisions of this session stand now, for cards that were drawn when they still waited: from the server's view, and
 * after a restart from the settlements that are in the session.
 */
import type { CardState } from "../../../src/contracts/decision/card.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import { detailsOfEntry } from "./hidden-id.ts";
import type { PiSession } from "./pi-api.ts";

export class Cards {
  /** By the decision's id. */
  readonly #states = new Map<string, CardState>();

  state(decisionId: string): CardState | undefined {
    return this.#states.get(decisionId);
  }

  /** Reads what the session tells. */
  read(session: PiSession): void {
    for (const entry of session.getEntries()) {
      const message = detailsOfEntry(entry)?.message;
      if (message?.kind === "settlement") this.#states.set(message.card.requestId, message.state);
    }
  }

  see({ decisions }: SessionView): void {
    for (const { decisionId, state } of decisions) this.#states.set(decisionId, state);
  }
}
