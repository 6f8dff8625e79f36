/**
 * Decisions at the server's own terminal (`holdpoint decide`): the card, and an answer through the one door. The server vouches for the
 * user of this machine, and for no more: assurance `local`, actor `uid:<n>`.
 */
import { userInfo } from "node:os";
import { TERMINAL } from "../../contracts/config.ts";
import type { Receipt } from "../../state/store.ts";
import type { ServerCore } from "../core.ts";
import type { Caller, Handlers } from "./connection.ts";

interface Shared {
  /** `uid:<n>` of whoever owns the socket. */
  readonly actorId: string;
  readonly receipt: (operation: "decision.answer", payload: unknown, caller: Caller) => Receipt | null;
  readonly wakeAll: () => void;
}

/** Handlers of `decision.show` and `decision.answer`. */
export function terminalHandlers(
  core: ServerCore,
  { actorId, receipt, wakeAll }: Shared,
): Pick<Handlers, "decision.show" | "decision.answer"> {
  const { store } = core.options;
  return {
    "decision.show": async ({ decision }) => {
      await core.waiting.look();
      const shown = store.read.decisions.card(decision);
      const { audiences } = core.config;
      const { escalatedTo, ...result } = shown;
      // A second audience that is asked too counts like the first.
      const terminal = [shown.audience, escalatedTo].some(
        (name) => name !== null && Object.hasOwn(audiences, name) && audiences[name]?.destinations.includes(TERMINAL),
      );
      return { outcome: "accepted", result: { ...result, terminal } };
    },
    "decision.answer": async (payload, caller) => {
      const { choice, confirmed, decision, input, requestDigest } = payload;
      const { outcome, result } = await store.decisions.answer({
        decision,
        requestDigest,
        choice,
        input,
        // What is allowed may have changed since the card was shown: an answer that nobody typed a fingerprint for never counts.
        unconfirmed: !confirmed,
        source: {
          type: "control",
          channel: TERMINAL,
          actorId,
          personId: null,
          actorName: userInfo().username,
          eventId: `${caller.clientId}:${caller.idempotencyKey}`,
          assurance: "local",
        },
        access: core.access(),
        receipt: receipt("decision.answer", payload, caller),
      });
      wakeAll();
      const { decisionId, fingerprint, kind, reply, status } = result;
      return { outcome, result: { decisionId, fingerprint, kind, reply, status } };
    },
  };
}
