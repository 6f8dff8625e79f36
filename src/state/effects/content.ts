/**
 * What one attempt of a message carries: the content, computed when it is given out, and the tokens of its buttons.
 */
import { buttonIdsOf, type ReplyCode } from "../../contracts/decision/codes.ts";
import { DECISION } from "../../contracts/limits.ts";
import type { MessageContent, Perform } from "../../contracts/protocol/channel.ts";
import { cardContent } from "../decisions/card.ts";
import { decisionByNo, requestOf, type DecisionRow } from "../decisions/rows.ts";
import { sha256 } from "../hash.ts";
import type { Tx } from "../tx.ts";
import { notificationContent } from "../notifications/content.ts";
import { partByReference } from "./parts.ts";
import { attemptOf, effectByNo, type EffectRow } from "./rows.ts";

/** The stored request of a reply. */
export interface ReplyRequest {
  readonly reply: ReplyCode;
  readonly timeZone: string;
  readonly prompt: { readonly placeholder: string } | null;
}

type Frame = Pick<Perform, "op" | "content" | "part" | "reference" | "replyTo">;

const POST = { op: "post", part: null, reference: null } as const;

/** The part of a `perform` frame that depends on what kind of message it is. Stores the tokens of a card's buttons. */
export function frameOf(
  tx: Tx,
  effect: EffectRow,
  attempt: number,
  copy: { readonly repeatOf: number | null; readonly timeZone: string | undefined },
): Frame {
  switch (effect.purpose) {
    case "delivery": {
      const decision = decisionByNo(tx, effect.decisionNo as number);
      const tokens = decision.status === "pending" ? issueTokens(tx, decision, effect.effectNo, attempt) : undefined;
      return { ...POST, content: cardContent(tx, decision, { tokens, of: effect, ...copy }), replyTo: null };
    }
    case "settlement": {
      const target = { part: effect.targetPart, reference: effect.targetReference, replyTo: null };
      if (effect.effectType === "prompt.close") return { op: "delete", content: null, ...target };
      if (effect.effectType === "question.close") {
        const { reply, timeZone } = tx.unpack(effect.request) as unknown as ReplyRequest;
        return { op: "edit", content: { kind: "reply", reply, timeZone, prompt: null }, ...target };
      }
      return { op: "edit", content: settledCard(tx, effect, copy.timeZone), ...target };
    }
    case "reply": {
      const { prompt, reply, timeZone } = tx.unpack(effect.request) as unknown as ReplyRequest;
      const ids = buttonIdsOf(reply);
      const tokens = ids.length === 0 ? {} : { tokens: issue(tx, ids, effect.effectNo, attempt) };
      return {
        ...POST,
        content: { kind: "reply", reply, timeZone, prompt, ...tokens },
        replyTo: effect.targetReference,
      };
    }
    case "notification": {
      const { notificationId } = tx.unpack(effect.request) as { notificationId: string };
      const content = notificationContent(tx, notificationId, {
        repeatOf: copy.repeatOf,
        timeZone: copy.timeZone ?? "UTC",
      });
      return { ...POST, content, replyTo: null };
    }
    case "action":
      throw new Error(`effect ${effect.effectId} is no message`);
  }
}

function settledCard(tx: Tx, effect: EffectRow, timeZone: string | undefined): MessageContent {
  const shown = partByReference(tx, effect.channelId as string, effect.targetReference as string);
  const copy = shown === undefined ? undefined : attemptOf(tx, shown.effectNo, shown.attempt);
  const decision = decisionByNo(tx, effect.decisionNo as number);
  // Further buttons of the same copy: those that it has stay good, as nobody knows whether the edit will arrive.
  const pending = shown !== undefined && decision.status === "pending";
  const tokens = pending ? issueTokens(tx, decision, shown.effectNo, shown.attempt) : undefined;
  return cardContent(tx, decision, {
    tokens,
    of: shown === undefined ? undefined : effectByNo(tx, shown.effectNo),
    repeatOf: copy?.repeatOf ?? null,
    timeZone,
  });
}

function issueTokens(tx: Tx, decision: DecisionRow, effectNo: number, attempt: number): Record<string, string> {
  const ids = requestOf(tx, decision).choices.map(({ id }) => id);
  return issue(tx, ids, effectNo, attempt);
}

/** One unguessable token per button; only their hashes are stored, bound to a choice, an attempt, and through it to version and destination. */
function issue(tx: Tx, ids: readonly string[], effectNo: number, attempt: number): Record<string, string> {
  const tokens: Record<string, string> = {};
  for (const id of ids) {
    const token = tx.random(DECISION.tokenBytes).toString("base64url");
    tokens[id] = token;
    tx.run(
      "INSERT INTO decision_tokens (token_hash, effect_no, attempt_number, choice) VALUES (?, ?, ?, ?)",
      sha256(token),
      effectNo,
      attempt,
      id,
    );
  }
  return tokens;
}
