/**
 * Votes, where several persons must agree: one for each person, the latest. A vote of somebody who may not answer any more is struck
 * when that is noticed, at the next answer or when the configuration is read; it stays in the record, and only a new vote counts again.
 */
import type { Assurance, DecisionVote } from "../../contracts/decision/answer.ts";
import type { CardVotes } from "../../contracts/decision/card.ts";
import { everybodyVoted, type ActorVerdict, type AnswerTerms } from "../../decision/index.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import { judgeSource, votersOf, type Access, type AnswerSource } from "./access.ts";
import type { DecisionRow } from "./rows.ts";
import { settleAll } from "./settle.ts";

export interface StoredVote {
  readonly vote: DecisionVote;
  /** The name as it was shown. */
  readonly name: string | null;
  readonly source: AnswerSource;
}

interface VoteRow {
  personId: string;
  choice: string;
  input: string | null;
  votedAt: number;
  name: string | null;
  source: AnswerSource["type"];
  channel: string;
  actorId: string;
  assurance: Assurance;
}

/** The votes that count, in the order in which they were given. */
export function votesOf(db: Reader, decisionNo: number): StoredVote[] {
  const rows = db.all<VoteRow>(
    `SELECT person_id AS personId, choice, input, voted_at AS votedAt, person_name AS name, source, channel, actor_id AS actorId, assurance
     FROM decision_votes WHERE decision_no = ? AND revoked_at IS NULL ORDER BY voted_at, person_id`,
    decisionNo,
  );
  return rows.map(({ actorId, assurance, channel, choice, input, name, personId, source, votedAt }) => ({
    vote: input === null ? { personId, choice, votedAt } : { personId, choice, input, votedAt },
    name,
    source: { type: source, channel, actorId, personId, eventId: "", assurance },
  }));
}

/** Stores a vote in the place of this person's earlier one. */
export function storeVote(
  tx: Tx,
  decision: DecisionRow,
  vote: DecisionVote,
  by: { readonly actor: ActorVerdict; readonly source: AnswerSource },
): void {
  const { assurance, actorId, channel, type } = by.source;
  tx.run(
    `INSERT INTO decision_votes (decision_no, person_id, choice, input, person_name, source, channel, actor_id, assurance, voted_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (decision_no, person_id) DO UPDATE SET choice = excluded.choice, input = excluded.input, person_name = excluded.person_name,
       source = excluded.source, channel = excluded.channel, actor_id = excluded.actor_id, assurance = excluded.assurance,
       voted_at = excluded.voted_at, revoked_at = NULL`,
    decision.decisionNo,
    vote.personId,
    vote.choice,
    vote.input ?? null,
    by.actor.allowed ? (by.actor.name ?? null) : null,
    type,
    channel,
    actorId,
    assurance,
    vote.votedAt,
  );
}

/** The votes that count now: those of people who may not answer any more are struck first, and the cards say so. */
export function standingVotes(tx: Tx, decision: DecisionRow, request: AnswerTerms, access: Access): StoredVote[] {
  const votes = votesOf(tx, decision.decisionNo);
  // The account tells who the person is, unless the server knew it by itself.
  const stands = ({ source, vote }: StoredVote): boolean => {
    const known = source.type === "control" ? source : { ...source, personId: null };
    const verdict = judgeSource(access, request, known, decision.escalatedTo);
    return verdict.allowed && verdict.personId === vote.personId;
  };
  const standing = votes.filter(stands);
  const struck = votes.filter((one) => !standing.includes(one));
  for (const { name, vote } of struck) {
    tx.run(
      "UPDATE decision_votes SET revoked_at = ? WHERE decision_no = ? AND person_id = ?",
      tx.now,
      decision.decisionNo,
      vote.personId,
    );
    tx.event(decision.resourceNo, {
      type: "decision.voteRevoked",
      actor: { type: "server", id: "config" },
      payload: { choice: vote.choice, by: name, personId: vote.personId },
    });
  }
  if (struck.length > 0) settleAll(tx, decision, 0);
  return standing;
}

/** Notes whether anybody is left who could vote, and returns it. */
export function noteTurnout(
  tx: Tx,
  decision: DecisionRow,
  request: AnswerTerms,
  votes: readonly DecisionVote[],
  access: Access,
): boolean {
  const all = request.policy.quorum > 1 && everybodyVoted(votes, votersOf(access, request, decision.escalatedTo));
  const noted = all ? 1 : 0;
  if (noted !== decision.everybodyVoted) {
    decision.everybodyVoted = noted;
    tx.run("UPDATE human_decisions SET everybody_voted = ? WHERE decision_no = ?", noted, decision.decisionNo);
  }
  return all;
}

/** How the vote stands, for cards and lists; undefined where one answer is enough. */
export function votesView(db: Reader, decision: DecisionRow, request: AnswerTerms): CardVotes | undefined {
  const { choices, policy } = request;
  if (policy.quorum === 1) return undefined;
  const votes = votesOf(db, decision.decisionNo);
  const cast = choices.flatMap(({ id, label }) => {
    const by = votes.filter(({ vote }) => vote.choice === id).map(({ name, vote }) => name ?? vote.personId);
    return by.length === 0 ? [] : [{ label, by }];
  });
  return {
    need: policy.quorum,
    veto: choices.filter(({ id }) => policy.veto?.includes(id) === true).map(({ label }) => label),
    cast,
    ...(decision.status === "pending" && decision.everybodyVoted === 1 ? { everybodyVoted: true } : {}),
  };
}
