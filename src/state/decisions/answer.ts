/**
 * The one door: the only place that accepts an answer, whoever brings it. It judges by the rules of src/decision, stores the
 * submission and the vote, and, when the policy is met, the one resolution and the one continuation of the run.
 */
import type { DecisionResolution, DecisionVote } from "../../contracts/decision/answer.ts";
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import { acceptedAnswer } from "../../contracts/decision/input.ts";
import {
  humanResolution,
  judgeAnswer,
  replyFor,
  replyForWinner,
  submissionOutcome,
  withVote,
  type ActorVerdict,
  type AnswerTerms,
  type AnswerVerdict,
} from "../../decision/index.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { defineCommand } from "../command.ts";
import { withReceipt, type Receipt, type Receipted } from "../receipts.ts";
import { runByNo, shortIdOf } from "../runs/rows.ts";
import { continueFrom } from "../runs/waiting.ts";
import type { Tx } from "../tx.ts";
import { judgeSource, outageOf, type Access, type AnswerSource } from "./access.ts";
import { escalateNow } from "./escalate.ts";
import { expireDecision } from "./expire.ts";
import { resolveDecision } from "./resolve.ts";
import { decisionByRef, requestOf, resolutionOf, termsOf, type DecisionRow } from "./rows.ts";
import { settleAll } from "./settle.ts";
import { recordSubmission } from "./submissions.ts";
import { noteTurnout, standingVotes, storeVote } from "./votes.ts";
import { wellFormed } from "./well-formed.ts";

export interface Candidate {
  /** Digest of the card that was answered. */
  readonly requestDigest: string;
  readonly choice: string;
  /** Text that came with it, exactly as written. */
  readonly input?: string | undefined;
  /** Nobody has confirmed it at the terminal: it may be refused, and counts for nothing. */
  readonly unconfirmed?: boolean;
  readonly source: AnswerSource;
}

/** Verdicts that make an answer or a vote. */
const STORED: ReadonlySet<AnswerVerdict["kind"]> = new Set(["accepted", "recorded"]);

export interface Answered {
  readonly kind: AnswerVerdict["kind"];
  /** What the sender is told. */
  readonly reply: ReplyCode;
}

/**
 * Judges and stores one answer. Never throws for what a person did: every refusal is a verdict with its reply. (`answerUnconfirmed` is for
 * the terminal, which has shown nothing to anybody then.)
 */
export function answerDecision(tx: Tx, decision: DecisionRow, candidate: Candidate, access: Access): Answered {
  const request = termsOf(tx, decision);
  const actor = judgeSource(access, request, candidate.source, decision.escalatedTo);
  const stored = decision.status === "pending" ? undefined : resolutionOf(tx, decision);
  // Where one vote decides, a pending question has none.
  const several = decision.status === "pending" && request.policy.quorum > 1;
  const votes = several ? standingVotes(tx, decision, request, access).map(({ vote }) => vote) : [];
  const verdict = judgeAnswer({
    request,
    now: tx.now,
    requestDigest: candidate.requestDigest,
    choice: candidate.choice,
    input: candidate.input,
    actor,
    votes,
    resolution: stored?.resolution,
    outage: outageOf(access),
  });
  if (candidate.unconfirmed === true && STORED.has(verdict.kind))
    throw new HoldpointError("answerUnconfirmed", `The answer to ${decision.fingerprint} was not confirmed.`);
  record(tx, decision, candidate, actor, verdict);
  let obstructed = false;
  switch (verdict.kind) {
    case "accepted":
      storeVote(tx, decision, verdict.vote, { actor, source: candidate.source });
      obstructed = accept(tx, decision, request, candidate.source, actor, verdict);
      break;
    case "recorded": {
      const turnout = recordVote(tx, decision, { request, votes, verdict, actor, source: candidate.source, access });
      const reply = replyFor(verdict, request, { nameOf: () => undefined });
      return { kind: verdict.kind, reply: turnout ? ({ ...reply, everybodyVoted: true } as ReplyCode) : reply };
    }
    case "expired":
      // The rule that refuses this answer is the one that permits the policy: both in one command, whatever the timer does.
      expireDecision(tx, decision, requestOf(tx, decision));
      return { kind: verdict.kind, reply: toldAsLate(tx, decision, request, actor) };
    default:
  }
  const personName = stored?.personName;
  const winnerId = stored?.resolution.personId ?? undefined;
  const reply = replyFor(verdict, request, {
    nameOf: (id) => (id === winnerId ? personName : undefined),
    personId: actor.allowed ? actor.personId : undefined,
  });
  if (obstructed) {
    const run = shortIdOf(tx, runByNo(tx, decision.runNo).runId);
    return { kind: verdict.kind, reply: { code: "sourceChanged", run } };
  }
  return { kind: verdict.kind, reply };
}

/** Returns whether it was known before that the run cannot be continued now. */
function accept(
  tx: Tx,
  decision: DecisionRow,
  request: AnswerTerms,
  source: AnswerSource,
  actor: ActorVerdict,
  verdict: { readonly vote: DecisionVote; readonly graceAfterOutage: boolean },
): boolean {
  const { actorId, assurance, channel, eventId } = source;
  const resolution: DecisionResolution = humanResolution(request, {
    vote: verdict.vote,
    graceAfterOutage: verdict.graceAfterOutage,
    source: { channel, actorId, eventId },
    assurance,
  });
  const by = actorOf(actor, source);
  resolveDecision(tx, decision, resolution, { actor: by, personName: nameOf(actor), updateId: source.updateId });
  const { obstructed } = continueFrom(tx, decision.runNo, {
    cause: { type: "decision", id: decision.decisionId },
    output: acceptedAnswer(request.choices, verdict.vote.choice, verdict.vote.input),
    actor: by,
  });
  return obstructed;
}

/** A vote that does not decide yet: it is stored and shown on every card. Returns whether everybody has voted now, in vain. */
function recordVote(
  tx: Tx,
  decision: DecisionRow,
  given: {
    readonly request: AnswerTerms;
    readonly votes: readonly DecisionVote[];
    readonly verdict: Extract<AnswerVerdict, { kind: "recorded" }>;
    readonly actor: ActorVerdict;
    readonly source: AnswerSource;
    readonly access: Access;
  },
): boolean {
  const { access, actor, request, source, votes } = given;
  const { have, need, vote } = given.verdict;
  const before = votes.find(({ personId }) => personId === vote.personId);
  const turnout = noteTurnout(tx, decision, request, withVote(votes, vote), access);
  // The same vote once more says nothing new.
  const repeated = before?.choice === vote.choice && before.input === vote.input;
  if (!repeated) {
    storeVote(tx, decision, vote, { actor, source });
    tx.event(decision.resourceNo, {
      type: "decision.vote",
      actor: actorOf(actor, source),
      payload: { choice: vote.choice, by: nameOf(actor), have, need },
    });
  }
  // Nobody is left to wait for, so that those who are asked next are asked now.
  const escalated = turnout && escalateNow(tx, decision, request, "noQuorum", access);
  if (!escalated && !repeated) settleAll(tx, decision, 0);
  return turnout;
}

function record(
  tx: Tx,
  decision: DecisionRow,
  candidate: Candidate,
  actor: ActorVerdict,
  verdict: AnswerVerdict,
): void {
  // Asking for the text is a step of the conversation, not an attempt to decide.
  if (verdict.kind === "inputRequired" && candidate.source.type === "channel") return;
  const outcome = submissionOutcome(verdict);
  recordSubmission(tx, {
    decisionNo: decision.decisionNo,
    source: candidate.source.type,
    channel: candidate.source.channel,
    actorId: candidate.source.actorId,
    personId: actor.allowed ? actor.personId : null,
    choice: candidate.choice,
    input: candidate.input ?? null,
    outcome,
    reason: outcome === "rejected" ? reasonOf(verdict) : null,
  });
  if (outcome === "rejected") tellRefused(tx, decision, candidate, actor, reasonOf(verdict));
}

/** A refusal is part of the story: who tried what, and why it did not count. */
function tellRefused(tx: Tx, decision: DecisionRow, candidate: Candidate, actor: ActorVerdict, reason: string): void {
  const { channel, eventId, updateId } = candidate.source;
  tx.event(decision.resourceNo, {
    type: "decision.refused",
    actor: actorOf(actor, candidate.source),
    payload: {
      decisionId: decision.decisionId,
      reason,
      choice: wellFormed(candidate.choice),
      by: nameOf(actor) ?? null,
      channel,
      eventId,
      ...(updateId === undefined ? {} : { updateId }),
    },
  });
}

function reasonOf(verdict: AnswerVerdict): string {
  if (verdict.kind === "notAllowed") return verdict.reason;
  return verdict.kind === "inputInvalid" ? `${verdict.rule}: ${verdict.seen}` : verdict.kind;
}

function toldAsLate(tx: Tx, decision: DecisionRow, request: AnswerTerms, actor: ActorVerdict): ReplyCode {
  const winner = resolutionOf(tx, decision)?.resolution;
  if (winner === undefined) return { code: "expired", at: decision.deadlineAt ?? tx.now };
  return replyForWinner(request, winner, {
    nameOf: () => undefined,
    personId: actor.allowed ? actor.personId : undefined,
  });
}

function nameOf(actor: ActorVerdict): string | undefined {
  return actor.allowed ? actor.name : undefined;
}

function actorOf(actor: ActorVerdict, source: AnswerSource): { type: string; id: string } {
  return { type: "human", id: actor.allowed ? actor.personId : `${source.channel}:${source.actorId}` };
}

export interface AnswerInput {
  /** Decision id, or the first hex digits of the request digest. */
  readonly decision: string;
  /** Digest of the card that was answered; null when the fingerprint in `decision` binds the version. */
  readonly requestDigest: string | null;
  readonly choice: string;
  readonly input?: string | null;
  /** Nobody has confirmed it at the terminal. */
  readonly unconfirmed?: boolean;
  readonly source: AnswerSource;
  readonly access: Access;
  readonly receipt: Receipt | null;
}

export interface AnswerResult extends Answered {
  readonly decisionId: string;
  readonly fingerprint: string;
  readonly status: DecisionRow["status"];
  readonly runNo: number;
}

/** An answer from outside a channel. Throws only `decisionNotFound`, `ambiguousId`, `idempotencyConflict` and `answerUnconfirmed`. */
export const answer = defineCommand("decisions.answer", (tx: Tx, given: AnswerInput): Receipted<AnswerResult> =>
  withReceipt(tx, given.receipt, () => {
    const decision = decisionByRef(tx, given.decision);
    const candidate: Candidate = {
      requestDigest: given.requestDigest ?? decision.requestDigest,
      choice: given.choice,
      input: given.input ?? undefined,
      unconfirmed: given.unconfirmed ?? false,
      source: given.source,
    };
    const { kind, reply } = answerDecision(tx, decision, candidate, given.access);
    const { decisionId, fingerprint, runNo, status } = decision;
    return { kind, reply, decisionId, fingerprint, status, runNo };
  }),
);
