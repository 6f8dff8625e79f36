/**
 * Effects: everything that reaches the outside, from actions of workflows to every visible message, with its attempts and parts.
 *
 * Owns: effects, effect_attempts, effect_parts, decision_tokens; which attempt comes next; what an outcome means; how a person settles
 * doubt. Must not: judge answers, talk to a channel, or know how a service words its errors (outcomes are decided at the edge).
 */
import { finishAttempt } from "./attempt-outcome.ts";
import { dispatch, storePart } from "./dispatch.ts";
import { tendDoubts } from "./doubts.ts";
import { adapterGone } from "./gone.ts";
import { nextAttempt } from "./next-attempt.ts";
import { recover, settle } from "./operator.ts";
import { report } from "./report.ts";
import { reserve } from "./reserve.ts";

export { reads } from "./reads.ts";

export const commands = {
  reserve,
  report,
  settle,
  recover,
  nextAttempt,
  dispatch,
  storePart,
  finishAttempt,
  adapterGone,
  tendDoubts,
} as const;
