// The one resolution row of a decision, made the same way whoever decides.

import {
  answerDigestOf,
  RESOLUTION_SCHEMA,
  type AnswerSource,
  type Assurance,
  type DecisionResolution,
  type DecisionVote,
} from "../contracts/decision/answer.ts";
import type { DecisionRequest } from "../contracts/decision/request.ts";
import { timeoutOutcome } from "./deadline.ts";

type Bound = Pick<DecisionRequest, "decisionId" | "requestDigest">;

/** The resolution by the person whose vote met the policy. */
export function humanResolution(
  request: Bound,
  by: {
    readonly vote: DecisionVote;
    readonly graceAfterOutage: boolean;
    readonly source: AnswerSource;
    readonly assurance: Assurance;
  },
): DecisionResolution {
  const { personId, choice, input, votedAt } = by.vote;
  const { assurance, graceAfterOutage, source } = by;
  return resolution(request, choice, input, {
    provenance: "human",
    personId,
    source,
    assurance,
    graceAfterOutage,
    resolvedAt: votedAt,
  });
}

/** The resolution by the timeout policy at `now`; only when `mayTimeOut` says so. */
export function timeoutResolution(
  request: Bound & Pick<DecisionRequest, "defaultResponse">,
  now: number,
): DecisionResolution {
  const outcome = timeoutOutcome(request);
  const input = "input" in outcome ? outcome.input : undefined;
  return resolution(request, outcome.choice, input, { ...NOBODY, provenance: outcome.provenance, resolvedAt: now });
}

/** The resolution that a cancellation of the run or of the decision makes; it beats every later answer. */
export function cancelResolution(
  request: Bound,
  by: { readonly personId: string | null; readonly source: AnswerSource | null; readonly assurance: Assurance | null },
  now: number,
): DecisionResolution {
  return resolution(request, null, undefined, {
    ...by,
    provenance: "explicit_cancel",
    graceAfterOutage: false,
    resolvedAt: now,
  });
}

const NOBODY = { personId: null, source: null, assurance: null, graceAfterOutage: false } as const;

function resolution(
  { decisionId, requestDigest }: Bound,
  choice: string | null,
  input: string | undefined,
  rest: Pick<
    DecisionResolution,
    "provenance" | "personId" | "source" | "assurance" | "graceAfterOutage" | "resolvedAt"
  >,
): DecisionResolution {
  return {
    schema: RESOLUTION_SCHEMA,
    decisionId,
    requestDigest,
    choice,
    ...(input === undefined ? {} : { input }),
    answerDigest: answerDigestOf({ decisionId, requestDigest, choice, input }),
    ...rest,
  };
}
