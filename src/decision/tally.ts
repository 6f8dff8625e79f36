// Counting votes: when the policy of a decision is met, and by which choice.

import type { DecisionVote } from "../contracts/decision/answer.ts";
import type { DecisionPolicy } from "../contracts/decision/policy.ts";

export type Tally =
  | { readonly decided: true; readonly vote: DecisionVote }
  /** `have` persons agree on `choice`, the leading one; `need` must. */
  | { readonly decided: false; readonly choice: string | undefined; readonly have: number; readonly need: number };

/** Whether nobody of `voters` is left who has not voted: without a decision, only a changed vote can make one. */
export function everybodyVoted(votes: readonly DecisionVote[], voters: readonly string[]): boolean {
  return voters.length > 0 && voters.every((id) => votes.some(({ personId }) => personId === id));
}

/** The votes after one more: a person's later vote replaces the earlier. */
export function withVote(votes: readonly DecisionVote[], vote: DecisionVote): DecisionVote[] {
  return [...votes.filter(({ personId }) => personId !== vote.personId), vote];
}

/**
 * Counts one vote per person, the latest. A veto choice decides by one vote; any other needs `quorum` persons who
 * agree. Votes are looked at in the order of time, so that the answer does not depend on the order of rows.
 */
export function tally(policy: DecisionPolicy, votes: readonly DecisionVote[]): Tally {
  const ordered = [...votes].sort((a, b) => a.votedAt - b.votedAt || (a.personId < b.personId ? -1 : 1));
  const latest = new Map<string, DecisionVote>();
  for (const vote of ordered) {
    latest.delete(vote.personId);
    latest.set(vote.personId, vote);
  }
  const counts = new Map<string, number>();
  let leading: string | undefined;
  for (const vote of latest.values()) {
    if (policy.veto?.includes(vote.choice) === true) return { decided: true, vote };
    const count = (counts.get(vote.choice) ?? 0) + 1;
    counts.set(vote.choice, count);
    if (count >= policy.quorum) return { decided: true, vote };
    if (leading === undefined || count > (counts.get(leading) ?? 0)) leading = vote.choice;
  }
  return {
    decided: false,
    choice: leading,
    have: leading === undefined ? 0 : (counts.get(leading) ?? 0),
    need: policy.quorum,
  };
}
