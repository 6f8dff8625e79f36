/**
 * Monitors: what is watched, how it stands, when it is looked at next. Owns `monitors`. Must not: probe, know cron or word anything;
 * results come from the server, what people are told goes through alerts.
 */
import { MONITOR, PAGE } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ReadDb } from "../reading.ts";
import { beat, checked, postpone } from "./checked.ts";
import { put, remove, sync } from "./define.ts";
import { askRepair, startRepair } from "./repair.ts";
import {
  type Lane,
  monitorByName,
  monitorNamed,
  monitorsAfter,
  monitorsDue,
  monitorsToRepair,
  type MonitorRow,
} from "./rows.ts";

export const commands = { sync, put, remove, checked, beat, postpone, askRepair, startRepair } as const;

export interface MonitorEvent {
  readonly at: number;
  readonly type: string;
  readonly detail: JsonValue;
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** Throws `monitorUnknown`. */
  get: (name: string): MonitorRow => monitorNamed(db, name),
  find: (name: string): MonitorRow | null => monitorByName(db, name) ?? null,
  /** A page by name, after `after` (""). */
  page: (after: string): MonitorRow[] => monitorsAfter(db, after, PAGE.rows),
  due: (lane: Lane, now: number): MonitorRow[] => monitorsDue(db, lane, now, PAGE.rows),
  /** When the first one is due, perhaps in the past; null when there is none. */
  soonest: (): number | null => db.get<{ at: number | null }>("SELECT min(next_at) AS at FROM monitors")?.at ?? null,
  /** The next time after `now` at which one becomes due. */
  nextDue: (now: number): number | null =>
    db.get<{ at: number | null }>("SELECT min(next_at) AS at FROM monitors WHERE next_at > ?", now)?.at ?? null,
  /** What became of it, newest first. */
  events: (name: string): MonitorEvent[] =>
    db
      .all<{ at: number; type: string; payload: string }>(
        `SELECT e.recorded_at AS at, e.event_type AS type, e.payload FROM events e JOIN resources r USING (resource_no)
         WHERE r.resource_type = 'monitor' AND r.aggregate_key = ? ORDER BY e.event_index DESC LIMIT ${MONITOR.shownEvents}`,
        name,
      )
      .map(({ payload, ...event }) => ({ ...event, detail: JSON.parse(payload) as JsonValue })),
  toRepair: (): MonitorRow[] => monitorsToRepair(db),
  count: (): number => db.get<{ n: number }>("SELECT count(*) AS n FROM monitors")?.n ?? 0,
});
