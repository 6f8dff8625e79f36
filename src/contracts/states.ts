/**
 * The state machine of each durable record: one table `from × event → to`. Code asks `next`; docs are drawn from it.
 */
import { HoldpointError } from "./errors.ts";

export type TransitionTable = Readonly<Record<string, Readonly<Record<string, string>>>>;

export const RUN_STATES = {
  queued: { started: "running", failed: "failed", cancelled: "cancelled" },
  running: {
    decisionRequested: "waiting",
    checkpointRequested: "waiting",
    interactionRequested: "waiting",
    timerSet: "waiting",
    completed: "completed",
    failed: "failed",
    timedOut: "timed_out",
    cancelled: "cancelled",
  },
  waiting: { continued: "running", failed: "failed", cancelled: "cancelled" },
  completed: {},
  failed: {},
  timed_out: {},
  cancelled: {},
} as const satisfies TransitionTable;

/** How a run stands in the scheduler's queue. `parked` rows are not claimed by themselves. */
export const QUEUE_STATES = {
  queued: { claimed: "starting", parked: "parked", closed: "done" },
  starting: { ready: "running", requeued: "queued", parked: "parked", closed: "done" },
  running: { requeued: "queued", parked: "parked", closed: "done" },
  parked: { requeued: "queued", closed: "done" },
  done: {},
} as const satisfies TransitionTable;

export const ATTEMPT_STATES = {
  running: {
    finished: "completed",
    failed: "failed",
    timedOut: "timed_out",
    waits: "waiting",
    interrupted: "interrupted",
    cancelled: "cancelled",
  },
  // `goesOn`: a runner judges what the agent of a session handed in, or records how that ended.
  waiting: { finished: "completed", cancelled: "cancelled", goesOn: "running", failed: "failed" },
  interrupted: {},
  completed: {},
  failed: {},
  timed_out: {},
  cancelled: {},
} as const satisfies TransitionTable;

export const EFFECT_STATES = {
  pending: { attempted: "applying", cancelled: "cancelled", rejected: "rejected", applied: "applied" },
  applying: {
    applied: "applied",
    rejected: "rejected",
    uncertain: "ambiguous",
    notApplied: "pending",
    cancelled: "cancelled",
  },
  // `retried`: a person wants it; \`resent\`: the policy of its audience does.
  ambiguous: { applied: "applied", rejected: "rejected", retried: "pending", resent: "pending" },
  applied: {},
  rejected: { retried: "pending" },
  // `proved`: it stands where it was sent to after all.
  cancelled: { proved: "pending" },
} as const satisfies TransitionTable;

/** One attempt of an effect. Death before `dispatching` is `notSent`; only `dispatching` without an outcome is `ambiguous`. */
export const EFFECT_ATTEMPT_STATES = {
  recorded: { dispatched: "dispatching", notSent: "notSent" },
  dispatching: { accepted: "accepted", rejected: "rejected", notSent: "notSent", uncertain: "ambiguous" },
  ambiguous: { accepted: "accepted", rejected: "rejected", notSent: "notSent" },
  accepted: {},
  rejected: {},
  notSent: {},
} as const satisfies TransitionTable;

export const PART_STATES = {
  dispatching: { accepted: "accepted", rejected: "rejected", notSent: "notSent", uncertain: "ambiguous" },
  ambiguous: { accepted: "accepted", notSent: "notSent" },
  accepted: {},
  rejected: {},
  notSent: {},
} as const satisfies TransitionTable;

export const DECISION_STATES = {
  pending: { answered: "accepted", timedOut: "accepted", expired: "cancelled", cancelled: "cancelled" },
  accepted: {},
  cancelled: {},
} as const satisfies TransitionTable;

export const RUNNER_STATES = {
  starting: {
    ready: "ready",
    exited: "exited",
    crashed: "crashed",
    timedOut: "timedOut",
    orphaned: "orphaned",
    claimLost: "claimLost",
    cancelled: "cancelled",
  },
  ready: {
    exited: "exited",
    crashed: "crashed",
    timedOut: "timedOut",
    orphaned: "orphaned",
    claimLost: "claimLost",
    cancelled: "cancelled",
  },
  exited: {},
  crashed: {},
  timedOut: {},
  orphaned: {},
  claimLost: {},
  cancelled: {},
} as const satisfies TransitionTable;

/** A checkpoint that waits for an operator. */
export const REQUEST_STATES = {
  pending: { answered: "settled", cancelled: "cancelled" },
  settled: {},
  cancelled: {},
} as const satisfies TransitionTable;

/** A step that waits for the agent of a session. */
export const AGENT_REQUEST_STATES = {
  pending: { submitted: "validating", failed: "failed", timedOut: "timed_out", cancelled: "cancelled" },
  validating: { accepted: "settled", refused: "pending", cancelled: "cancelled" },
  settled: {},
  failed: {},
  timed_out: {},
  cancelled: {},
} as const satisfies TransitionTable;

/** What such an agent handed in. */
export const SUBMISSION_STATES = {
  validating: { accepted: "accepted", rejected: "rejected" },
  accepted: {},
  rejected: {},
} as const satisfies TransitionTable;

/** The time that a sleeping run waits for. */
export const TIMER_STATES = {
  pending: { fired: "fired", cancelled: "cancelled" },
  fired: {},
  cancelled: {},
} as const satisfies TransitionTable;

/** A prompt that is sent after its run succeeded. */
export const FOLLOW_UP_STATES = {
  queued: { sent: "sent", removed: "removed", cancelled: "cancelled" },
  sent: { turnEnded: "settled" },
  settled: {},
  removed: {},
  cancelled: {},
} as const satisfies TransitionTable;

/** A run that a resource manager asked for; what it does meanwhile is the run's own state. */
export const MANAGED_RUN_STATES = {
  open: { completed: "succeeded", failed: "failed", timedOut: "failed", cancelled: "interrupted" },
  succeeded: {},
  failed: {},
  interrupted: {},
} as const satisfies TransitionTable;

/** All tables by record name, for the docs and for exhaustive tests. */
export const STATE_TABLES = {
  run: RUN_STATES,
  queue: QUEUE_STATES,
  nodeAttempt: ATTEMPT_STATES,
  effect: EFFECT_STATES,
  effectAttempt: EFFECT_ATTEMPT_STATES,
  effectPart: PART_STATES,
  decision: DECISION_STATES,
  runner: RUNNER_STATES,
  request: REQUEST_STATES,
  agentRequest: AGENT_REQUEST_STATES,
  submission: SUBMISSION_STATES,
  timer: TIMER_STATES,
  followUp: FOLLOW_UP_STATES,
  managedRun: MANAGED_RUN_STATES,
} as const;

export type RecordName = keyof typeof STATE_TABLES;

/** The state after `event`, or an `illegalTransition` error that names record, state and event. */
export function next(record: RecordName, from: string, event: string): string {
  const table: TransitionTable = STATE_TABLES[record];
  const row = Object.hasOwn(table, from) ? table[from] : undefined;
  const to = row && Object.hasOwn(row, event) ? row[event] : undefined;
  if (to === undefined) {
    throw new HoldpointError("illegalTransition", `A ${record} in state "${from}" has no transition "${event}".`, {
      details: { record, from, event },
    });
  }
  return to;
}

/** True if nothing leads out of this state. */
export function isFinal(record: RecordName, state: string): boolean {
  const table: TransitionTable = STATE_TABLES[record];
  const row = Object.hasOwn(table, state) ? table[state] : undefined;
  return row !== undefined && Object.keys(row).length === 0;
}
