/**
 * What a row of results says about a target: up, down or unstable, with confirmation before each and calm after a storm. Pure: the
 * state goes in with one result and comes out with what people should be told now.
 *
 * What people are told follows from the difference between what is and what they were told last (`told`), never from the step that
 * was just made: so nothing is lost by a crash, a maintenance window or a restart.
 */
import { MONITOR } from "../../../contracts/limits.ts";

export type Standing = "new" | "up" | "down";
/** What the chats believe: nothing is wrong, or which alert is open. */
export type Told = "nothing" | "down" | "unstable";

export interface MonitorState {
  /** Confirmed; `new` until the first confirmation. */
  readonly standing: Standing;
  /** When the standing began: the first result of the row that confirmed it. */
  readonly since: number;
  /** Results in a row that are like the last one. */
  readonly row: number;
  readonly lastOk: boolean | null;
  /** When that row began. */
  readonly rowSince: number;
  /** Results so far. */
  readonly checks: number;
  /** Changes of the result within the last `MONITOR.flapChecks` results: number of the result and its time. */
  readonly flips: readonly (readonly [check: number, at: number])[];
  readonly unstable: boolean;
  readonly told: Told;
  /** Of the open alert: when the trouble began, and results since then that failed. */
  readonly troubleSince: number | null;
  readonly failed: number;
}

export interface Confirmation {
  readonly failAfter: number;
  readonly recoverAfter: number;
}

/** What must be told, with its facts. Times in milliseconds since the epoch. */
export type Change =
  | { readonly kind: "down"; readonly since: number; readonly checks: number; readonly was: "nothing" | "unstable" }
  | { readonly kind: "unstable"; readonly since: number; readonly changes: number; readonly spanMs: number }
  | { readonly kind: "up"; readonly from: number; readonly to: number; readonly was: "down" | "unstable" };

export interface Observation {
  readonly state: MonitorState;
  readonly change: Change | null;
}

export const NEW_STATE: MonitorState = {
  standing: "new",
  since: 0,
  row: 0,
  lastOk: null,
  rowSince: 0,
  checks: 0,
  flips: [],
  unstable: false,
  told: "nothing",
  troubleSince: null,
  failed: 0,
};

/**
 * @param result `at`: when the check was due to people, ms. `quiet`: within a maintenance window, in which nothing new is opened;
 *   what is open may be closed.
 */
export function observe(
  before: MonitorState,
  { failAfter, recoverAfter }: Confirmation,
  result: { readonly ok: boolean; readonly at: number; readonly quiet: boolean },
): Observation {
  const { at, ok } = result;
  const checks = before.checks + 1;
  const flipped = before.lastOk !== null && before.lastOk !== ok;
  const row = before.lastOk === ok ? before.row + 1 : 1;
  const rowSince = before.lastOk === ok ? before.rowSince : at;
  const flips = [...before.flips, ...(flipped ? [[checks, at] as const] : [])].filter(
    ([check]) => check > checks - MONITOR.flapChecks,
  );
  const confirmed = row >= (ok ? recoverAfter : failAfter);
  // The first success needs no confirmation: nobody was told otherwise.
  const standing: Standing = confirmed || (ok && before.standing === "new") ? (ok ? "up" : "down") : before.standing;
  const unstable = before.unstable
    ? row < Math.max(MONITOR.calmChecks, failAfter, recoverAfter)
    : flips.length >= MONITOR.flapChanges;
  const state: MonitorState = {
    standing,
    since: standing === before.standing ? before.since : rowSince,
    row,
    lastOk: ok,
    rowSince,
    checks,
    flips,
    unstable,
    told: before.told,
    troubleSince: before.troubleSince,
    failed: before.failed + (ok ? 0 : 1),
  };
  return tell(state, before.told, result);
}

function tell(state: MonitorState, told: Told, { at, quiet }: { at: number; quiet: boolean }): Observation {
  const wanted: Told = state.unstable ? "unstable" : state.standing === "down" ? "down" : "nothing";
  // Trouble is counted from its first failed result, also while nobody was told of it.
  const troubleSince =
    wanted === "nothing" && told === "nothing"
      ? null
      : (state.troubleSince ?? (wanted === "unstable" ? (state.flips[0]?.[1] ?? at) : state.since));
  const failed = troubleSince === null ? (state.lastOk === true ? 0 : state.row) : state.failed;
  const kept = { ...state, troubleSince, failed };
  // Nothing new is opened in a window, nor by a result that speaks against it.
  const held = (quiet && wanted !== "nothing") || (wanted === "down" && state.lastOk === true);
  if (wanted === told || held) return { state: kept, change: null };
  const now = { ...kept, told: wanted };
  switch (wanted) {
    case "down":
      return {
        state: now,
        change: { kind: "down", since: state.since, checks: failed, was: told === "unstable" ? told : "nothing" },
      };
    case "unstable": {
      const since = state.flips[0]?.[1] ?? at;
      return { state: now, change: { kind: "unstable", since, changes: state.flips.length, spanMs: at - since } };
    }
    case "nothing":
      return {
        state: { ...now, troubleSince: null, failed: 0 },
        change: {
          kind: "up",
          from: troubleSince ?? state.since,
          to: state.since,
          was: told === "unstable" ? told : "down",
        },
      };
  }
}
