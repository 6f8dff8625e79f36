/** Progress of a run as people see it: what was reported last for each key, and when it may be done. */
import type { ProgressView } from "../../contracts/protocol/operations.ts";
import { estimate } from "../../workflow/rules/index.ts";
import type { Store } from "../../state/store.ts";

/** Keys that one view shows: those that reported last. */
export const PROGRESS_KEYS = 16;

/** Nothing more is reported by a step that is over, whatever it said last. */
const OVER: ProgressView["estimate"] = { kind: "unavailable", reason: "its step is over" };

/** The tracks of a run, those that reported last first. `now` in milliseconds since the epoch. */
export function progressViews(store: Store, runNo: number, now: number, keys: number): ProgressView[] {
  return store.read.updates.tracks(runNo, keys).map(({ key, live, track }) => {
    const { completed = null, label, phase = null, status, total = null, unit = null } = track.latest;
    const expected = live ? estimate(track, now) : OVER;
    return { key, label, status, phase, completed, total, unit, at: track.at, estimate: expected };
  });
}
