// The one judgement of an answer. The store calls it inside its command: synchronous, pure, no clock of its own.

import type { DecisionResolution, DecisionVote, SubmissionOutcome } from "../contracts/decision/answer.ts";
import { judgeInput, normalizeInput, type InputRefusal } from "../contracts/decision/input.ts";
import type { DecisionRequest } from "../contracts/decision/request.ts";
import { inGrace, isPast, type OutageWindow } from "./deadline.ts";
import type { ActorVerdict, Refusal } from "./people.ts";
import { tally, withVote } from "./tally.ts";

/** What of a request an answer is judged by. */
export type AnswerTerms = Pick<
  DecisionRequest,
  "decisionId" | "requestDigest" | "audience" | "policy" | "choices" | "expiresAt"
>;

export interface Judgement {
  readonly request: Omit<AnswerTerms, "audience" | "decisionId">;
  /** Server time, ms. */
  readonly now: number;
  /** The digest of the card that was answered. */
  readonly requestDigest: string;
  readonly choice: string;
  /** Text that came with it, as written. */
  readonly input?: string | undefined;
  /** What `judgeActor` said about the sender. */
  readonly actor: ActorVerdict;
  /** Votes so far; at most one per person. */
  readonly votes: readonly DecisionVote[];
  /** The one resolution, if there is one. */
  readonly resolution?: DecisionResolution | undefined;
  readonly outage?: OutageWindow | undefined;
}

export type AnswerVerdict =
  /** Meets the policy: store `vote`, make the resolution from it. */
  | { readonly kind: "accepted"; readonly vote: DecisionVote; readonly graceAfterOutage: boolean }
  /** A vote that does not decide yet: `have` of `need` persons agree with it. */
  | { readonly kind: "recorded"; readonly vote: DecisionVote; readonly have: number; readonly need: number }
  /** The same person's same answer again, after it won. */
  | { readonly kind: "adopted"; readonly winner: DecisionResolution }
  | { readonly kind: "alreadyDecided"; readonly winner: DecisionResolution }
  | { readonly kind: "notAllowed"; readonly reason: Refusal }
  /** The answered card is of another version of the question. */
  | { readonly kind: "stale" }
  /** The deadline passed and the policy has not decided yet. */
  | { readonly kind: "expired"; readonly deadlineAt: number }
  | { readonly kind: "unknownChoice"; readonly choice: string; readonly known: readonly string[] }
  | (InputRefusal & { readonly choice: string });

/**
 * Judges an answer. In this order: a sender who may not answer learns nothing; an answer to another version never
 * counts; a decided question gives its winner, never an error; then deadline, choice, text, and the count.
 */
export function judgeAnswer(judgement: Judgement): AnswerVerdict {
  const { actor, now, outage, request, resolution } = judgement;
  if (!actor.allowed) return { kind: "notAllowed", reason: actor.reason };
  if (judgement.requestDigest !== request.requestDigest) return { kind: "stale" };
  if (resolution !== undefined) {
    return {
      kind: isSameAnswer(judgement, resolution, actor.personId) ? "adopted" : "alreadyDecided",
      winner: resolution,
    };
  }
  const late = isPast(request, now);
  if (late && !inGrace(request, now, outage)) return { kind: "expired", deadlineAt: request.expiresAt as number };
  const choice = request.choices.find(({ id }) => id === judgement.choice);
  if (choice === undefined) {
    return { kind: "unknownChoice", choice: judgement.choice, known: request.choices.map(({ id }) => id) };
  }
  const input = judgeInput(choice, judgement.input);
  if (input.kind !== "ok") return { ...input, choice: choice.id };
  const vote: DecisionVote = {
    personId: actor.personId,
    choice: choice.id,
    ...(input.input === undefined ? {} : { input: input.input }),
    votedAt: now,
  };
  const votes = withVote(judgement.votes, vote);
  // Earlier votes did not decide, so whatever decides now is this vote.
  if (tally(request.policy, votes).decided) return { kind: "accepted", vote, graceAfterOutage: late };
  const have = votes.filter((other) => other.choice === vote.choice).length;
  return { kind: "recorded", vote, have, need: request.policy.quorum };
}

/** The contract's word for what a submission came to. */
export function submissionOutcome(verdict: AnswerVerdict): SubmissionOutcome {
  switch (verdict.kind) {
    case "accepted":
      return "won";
    case "adopted":
      return "adopted";
    case "alreadyDecided":
      return "already_resolved";
    case "recorded":
      return "recorded";
    default:
      return "rejected";
  }
}

function isSameAnswer(judgement: Judgement, winner: DecisionResolution, personId: string): boolean {
  const input = judgement.input === undefined ? undefined : normalizeInput(judgement.input);
  return winner.personId === personId && winner.choice === judgement.choice && winner.input === input;
}
