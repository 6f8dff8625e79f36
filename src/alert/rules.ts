// What an alert says and when: a pure state machine over reports ("it is down", "it is up"), people (acknowledge, snooze) and time. Reports may be
// repeated at will; what they come to depends only on the state before them.

import type { Severity } from "../contracts/alert.ts";
import type { RemindAfter } from "../contracts/decision/policy.ts";
import { ALERT } from "../contracts/limits.ts";
import { nextReminder } from "../decision/index.ts";

export interface AlertState {
  /** Whether the condition holds by the latest report. */
  readonly open: boolean;
  /** Number of the present or last episode, from 1. What belongs to one opening and its end is one episode. */
  readonly episode: number;
  readonly fingerprint: string;
  readonly severity: Severity;
  /** When it began, ended or became something else lately; newest last. */
  readonly changes: readonly number[];
  /** Named as unstable, and quiet until it is stable. */
  readonly flapping: boolean;
  /** Changes since it was named so, those that made it so included. */
  readonly flaps: number;
  readonly acknowledged: boolean;
  readonly snoozedUntil: number | null;
  readonly remind: RemindAfter | null;
  /** From when reminders count. */
  readonly openedAt: number;
  readonly reminders: number;
  readonly remindedAt: number | null;
}

/**
 * What is to be told: `opened` and `changed` want a new message, `same` and `flapped` edit, `unstable` names it once, `recovered` and `settled` close,
 * `steady`: it was unstable and holds now; `reminded`, `snoozeOver`: it still holds.
 */
export type Said =
  | "opened"
  | "changed"
  | "same"
  | "unstable"
  | "flapped"
  | "recovered"
  | "settled"
  | "steady"
  | "reminded"
  | "snoozeOver"
  | "quiet"
  | "nothing";

export interface Step {
  readonly state: AlertState;
  readonly said: Said;
}

export interface Report {
  readonly fingerprint: string;
  readonly severity: Severity;
  readonly remind: RemindAfter | null;
  /** Whether unrest is noticed here; whoever reports may do that already. */
  readonly watched: boolean;
}

const RANK: Readonly<Record<Severity, number>> = { info: 0, warning: 1, critical: 2 };

/** The condition holds. */
export function raised(before: AlertState | undefined, report: Report, now: number): Step {
  if (before === undefined || !before.open) return opened(before, report, now);
  const { fingerprint, remind, severity, watched } = report;
  const next = { ...before, fingerprint, remind, severity };
  const worse = RANK[severity] > RANK[before.severity];
  if (fingerprint === before.fingerprint && !worse) return { state: next, said: "same" };
  // What somebody acknowledged was the unrest, as long as there is some.
  const taken = before.flapping && before.acknowledged;
  return changed({ ...next, acknowledged: taken, changes: [...recent(before, now), now] }, watched, "changed");
}

function opened(before: AlertState | undefined, { watched, ...report }: Report, now: number): Step {
  if (before?.flapping === true) return flapped({ ...before, ...report, open: true }, now);
  const state: AlertState = {
    ...report,
    open: true,
    episode: (before?.episode ?? 0) + 1,
    changes: [...(before === undefined ? [] : recent(before, now)), now],
    flapping: false,
    flaps: 0,
    acknowledged: false,
    snoozedUntil: before?.snoozedUntil ?? null,
    openedAt: now,
    reminders: 0,
    remindedAt: null,
  };
  return changed(state, watched, "opened");
}

/** Bad news, and one time too many makes it unstable instead. */
function changed(state: AlertState, watched: boolean, said: Said): Step {
  if (state.flapping) return { state: { ...state, flaps: state.flaps + 1 }, said: "flapped" };
  const flaps = state.changes.length;
  return !watched || flaps < ALERT.flapChanges
    ? { state, said }
    : { state: { ...state, flapping: true, flaps }, said: "unstable" };
}

/** The condition does not hold any more. */
export function recovered(before: AlertState | undefined, now: number): { state?: AlertState; said: Said } {
  if (before === undefined) return { said: "nothing" };
  if (!before.open) return { state: before, said: "nothing" };
  if (before.flapping) return flapped({ ...before, open: false }, now);
  return { state: { ...before, open: false, changes: [...recent(before, now), now] }, said: "recovered" };
}

function flapped(state: AlertState, now: number): Step {
  return { state: { ...state, flaps: state.flaps + 1, changes: [...recent(state, now), now] }, said: "flapped" };
}

function recent({ changes, flapping }: AlertState, now: number): readonly number[] {
  // While it is unstable only the last change counts, and the list may not grow.
  return flapping ? [] : changes.filter((at) => at > now - ALERT.flapWindowMs);
}

/** An alert that can still be acknowledged or snoozed: it holds, or nobody knows yet whether it will. */
export function isLive({ flapping, open }: AlertState): boolean {
  return open || flapping;
}

export function acknowledged(state: AlertState): AlertState {
  return { ...state, acknowledged: true, snoozedUntil: null };
}

export function snoozed(state: AlertState, until: number): AlertState {
  return { ...state, snoozedUntil: until };
}

/** When time alone changes something; null = only events do. */
export function nextAt(state: AlertState): number | null {
  const times = [state.snoozedUntil, stableAt(state), remindAt(state)].filter((at) => at !== null);
  return times.length === 0 ? null : Math.min(...times);
}

/** What is due at `now`: one thing at a time; ask again until it is `nothing`. */
export function due(state: AlertState, now: number): Step {
  const stable = stableAt(state);
  if (stable !== null && stable <= now) {
    const calm = { ...state, flapping: false, changes: state.open ? state.changes : [] };
    // Whoever is told that it holds after all is reminded from then on.
    return state.open
      ? { state: { ...calm, openedAt: now, reminders: 0, remindedAt: null }, said: "steady" }
      : { state: calm, said: "settled" };
  }
  if (state.snoozedUntil !== null && state.snoozedUntil <= now) {
    const awake = { ...state, snoozedUntil: null };
    if (!wantsSomebody(awake)) return { state: awake, said: "quiet" };
    return { state: { ...awake, remindedAt: now }, said: "snoozeOver" };
  }
  const remind = remindAt(state);
  if (remind !== null && remind <= now)
    return { state: { ...state, reminders: state.reminders + 1, remindedAt: now }, said: "reminded" };
  return { state, said: "nothing" };
}

function stableAt({ changes, flapping }: AlertState): number | null {
  return flapping ? (changes.at(-1) ?? 0) + ALERT.stableMs : null;
}

function remindAt(state: AlertState): number | null {
  const { openedAt, remind, remindedAt, reminders, snoozedUntil } = state;
  if (remind === null || reminders >= remind.atMost || snoozedUntil !== null || !wantsSomebody(state)) return null;
  return nextReminder(remind, openedAt, remindedAt ?? openedAt);
}

/** It holds, it is no mere news, nobody has taken it, and nothing else will tell of it. */
function wantsSomebody({ acknowledged: taken, flapping, open, severity }: AlertState): boolean {
  return open && !taken && !flapping && severity !== "info";
}

/** How long to wait between two edits that only tell that it lasts, so that a long one costs few. */
export function progressEvery(age: number): number {
  return Math.min(ALERT.progressMaxMs, Math.max(ALERT.progressMinMs, Math.floor(age / 4)));
}
