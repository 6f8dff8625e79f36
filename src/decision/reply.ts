// From verdicts and resolutions to what people are told: reply codes for the sender, the state of the card for all.

import type { DecisionResolution } from "../contracts/decision/answer.ts";
import type { CardStatus } from "../contracts/decision/card.ts";
import type { ReplyCode } from "../contracts/decision/codes.ts";
import type { AnswerTerms, AnswerVerdict } from "./judge.ts";

/** Names of persons by id; undefined where none is known. */
export type NameOf = (personId: string) => string | undefined;

type Asked = Pick<AnswerTerms, "choices" | "policy" | "expiresAt">;

interface Reader {
  readonly nameOf: NameOf;
  /** Who is told; says "you" instead of a name. */
  readonly personId?: string | undefined;
}

/** What the sender of an answer is told about it. */
export function replyFor(verdict: AnswerVerdict, request: Asked, reader: Reader): ReplyCode {
  switch (verdict.kind) {
    case "accepted": {
      const label = labelOf(request, verdict.vote.choice);
      const text = verdict.vote.input;
      if (text !== undefined) return { code: "textAccepted", label, text };
      return verdict.graceAfterOutage ? { code: "chosen", label, graceAfterOutage: true } : { code: "chosen", label };
    }
    case "recorded":
      return {
        code: "votesRecorded",
        label: labelOf(request, verdict.vote.choice),
        have: verdict.have,
        need: verdict.need,
      };
    case "adopted":
    case "alreadyDecided":
      return replyForWinner(request, verdict.winner, reader);
    case "notAllowed":
      if (verdict.reason === "wrongChannel")
        return { code: verdict.reason, channels: [...(request.policy.require?.channels ?? [])] };
      return { code: verdict.reason };
    case "stale":
      return { code: "stale", newCard: true };
    case "expired":
      // The policy has not decided yet, so no default is claimed to have been used.
      return { code: "expired", at: verdict.deadlineAt };
    case "unknownChoice":
      return { code: "unknownChoice", given: verdict.choice, labels: request.choices.map(({ label }) => label) };
    case "inputRequired": {
      const input = request.choices.find(({ id }) => id === verdict.choice)?.input;
      const label = labelOf(request, verdict.choice);
      if (input === undefined) return { code: "textRequired", label };
      const { maxLength, minLength, prompt } = input;
      return { code: "promptText", label, prompt, minLength, maxLength };
    }
    case "inputUnexpected":
      return { code: "textNotExpected", label: labelOf(request, verdict.choice) };
    case "inputInvalid":
      if (verdict.rule === "characters") return { code: "textInvalid" };
      return {
        code: verdict.rule === "minLength" ? "textTooShort" : "textTooLong",
        limit: verdict.limit,
        seen: verdict.seen,
      };
  }
}

/** What anybody who comes later is told: who or what was first. Never an error. */
export function replyForWinner(request: Asked, winner: DecisionResolution, reader: Reader): ReplyCode {
  const by = winner.personId === null ? undefined : reader.nameOf(winner.personId);
  const named = by === undefined ? {} : { by };
  switch (winner.provenance) {
    case "human": {
      const label = labelOf(request, winner.choice as string);
      const own = reader.personId !== undefined && reader.personId === winner.personId;
      return { code: "alreadyDecided", label, ...named, ...(own ? { byReader: true } : {}), at: winner.resolvedAt };
    }
    case "timeout_policy":
      return { code: "expired", at: deadlineOf(request, winner), label: labelOf(request, winner.choice as string) };
    case "expired_no_default":
      return { code: "expired", at: deadlineOf(request, winner) };
    case "explicit_cancel":
      return { code: "cancelled", ...named, at: winner.resolvedAt };
  }
}

/** How the card stands once the decision is resolved. */
export function cardStatusOf(request: Asked, winner: DecisionResolution, nameOf: NameOf): CardStatus {
  const by = winner.personId === null ? undefined : nameOf(winner.personId);
  const named = by === undefined ? {} : { by };
  switch (winner.provenance) {
    case "human":
      return {
        kind: "chosen",
        provenance: "human",
        label: labelOf(request, winner.choice as string),
        ...(winner.input === undefined ? {} : { text: winner.input }),
        ...named,
        ...(winner.source === null ? {} : { channel: winner.source.channel }),
        ...(winner.assurance === null ? {} : { assurance: winner.assurance }),
        at: winner.resolvedAt,
        ...(winner.graceAfterOutage ? { graceAfterOutage: true } : {}),
      };
    case "timeout_policy":
      return {
        kind: "chosen",
        provenance: "timeout_policy",
        label: labelOf(request, winner.choice as string),
        ...(winner.input === undefined ? {} : { text: winner.input }),
        at: deadlineOf(request, winner),
      };
    case "expired_no_default":
      return { kind: "expired", at: deadlineOf(request, winner) };
    case "explicit_cancel":
      return {
        kind: "cancelled",
        ...named,
        ...(winner.source === null ? {} : { channel: winner.source.channel }),
        at: winner.resolvedAt,
      };
  }
}

/** People know the deadline; when the policy was applied is for the record. */
function deadlineOf(request: Asked, winner: DecisionResolution): number {
  return request.expiresAt ?? winner.resolvedAt;
}

function labelOf(request: Asked, choiceId: string): string {
  return request.choices.find(({ id }) => id === choiceId)?.label ?? choiceId;
}
