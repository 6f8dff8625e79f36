/** Rows of monitors: how they are loaded, and what they look like to the rest of the store and the server. */
import { HoldpointError } from "../../contracts/errors.ts";
import type { Finding } from "../../contracts/monitor/finding.ts";
import type { MonitorSpec } from "../../contracts/monitor/spec.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { suggestion } from "../../contracts/nearest.ts";
import type { MonitorState } from "../../resource/rules/monitor/index.ts";
import type { Reader } from "../statements.ts";

export type MonitorOrigin = "config" | "resource";
/** What looking at a monitor takes. */
export type Lane = "network" | "command" | "heartbeat";

export function laneOf({ check }: MonitorSpec): Lane {
  return check.type === "command" || check.type === "heartbeat" ? check.type : "network";
}

/** A repair of the present trouble. */
export interface Repair {
  /** The trouble that it is for, by when it began. */
  readonly since: number;
  /** `wanted`: not started yet. `refused`: it could not be started, `error` says why. */
  readonly status: "wanted" | "started" | "refused";
  /** Who asked, as the chat calls them; null: the authority that is written in the monitor. */
  readonly by: string | null;
  readonly at: number;
  readonly runId: string | null;
  readonly error: string | null;
}

export interface MonitorRow {
  readonly monitorNo: number;
  readonly name: string;
  readonly resourceNo: number;
  readonly origin: MonitorOrigin;
  /** The managed resource that asks for it. */
  readonly resourceUid: string | null;
  readonly spec: MonitorSpec;
  readonly specDigest: string;
  readonly state: MonitorState;
  readonly nextAt: number;
  readonly lastAt: number | null;
  readonly lastFinding: Finding | null;
  readonly lastMs: number | null;
  readonly beatAt: number | null;
  readonly checks: number;
  readonly failures: number;
  readonly missed: number;
  readonly unseen: number;
  readonly alerts: number;
  readonly repair: Repair | null;
  /** Times of the repairs that the monitor's own authority started, within a day. */
  readonly repairs: readonly number[];
}

interface Stored extends Omit<MonitorRow, "spec" | "state" | "lastFinding" | "repair" | "repairs"> {
  spec: string;
  state: string;
  lastFinding: string | null;
  repair: string | null;
  repairs: string;
}

export interface Unpacking extends Reader {
  unpack(text: string): JsonValue;
}

const SELECT = `SELECT monitor_no AS monitorNo, name, resource_no AS resourceNo, origin, resource_uid AS resourceUid, spec, spec_digest AS specDigest, state, next_at AS nextAt,
  last_at AS lastAt, last_finding AS lastFinding, last_ms AS lastMs, beat_at AS beatAt, checks, failures, missed, unseen, alerts, repair, repairs
  FROM monitors`;

function rowOf(db: Unpacking, stored: Stored): MonitorRow {
  // Small and ours: read without the detour that values of people take.
  const { lastFinding, repair, repairs, spec, state, ...rest } = stored;
  return {
    ...rest,
    spec: db.unpack(spec) as unknown as MonitorSpec,
    state: JSON.parse(state) as MonitorState,
    lastFinding: lastFinding === null ? null : (JSON.parse(lastFinding) as Finding),
    repair: repair === null ? null : (JSON.parse(repair) as Repair),
    repairs: JSON.parse(repairs) as number[],
  };
}

export function monitorByNo(db: Unpacking, monitorNo: number): MonitorRow | undefined {
  const row = db.get<Stored>(`${SELECT} WHERE monitor_no = ?`, monitorNo);
  return row && rowOf(db, row);
}

export function monitorByName(db: Unpacking, name: string): MonitorRow | undefined {
  const row = db.get<Stored>(`${SELECT} WHERE name = ?`, name);
  return row && rowOf(db, row);
}

/** Throws `monitorUnknown` with the nearest name. */
export function monitorNamed(db: Unpacking, name: string): MonitorRow {
  const row = monitorByName(db, name);
  if (row !== undefined) return row;
  const names = db.all<{ name: string }>("SELECT name FROM monitors ORDER BY name LIMIT 256").map((one) => one.name);
  throw new HoldpointError("monitorUnknown", `There is no monitor "${name}".`, {
    remedy: `${suggestion(name, names)} See \`holdpoint monitors\`.`.trim(),
  });
}

/** A page by name. */
export function monitorsAfter(db: Unpacking, after: string, limit: number): MonitorRow[] {
  return db.all<Stored>(`${SELECT} WHERE name > ? ORDER BY name LIMIT ?`, after, limit).map((row) => rowOf(db, row));
}

/** Those of a lane that are due, the longest waiting first. */
export function monitorsDue(db: Unpacking, lane: Lane, now: number, limit: number): MonitorRow[] {
  return db
    .all<Stored>(`${SELECT} WHERE lane = ? AND next_at <= ? ORDER BY next_at, monitor_no LIMIT ?`, lane, now, limit)
    .map((row) => rowOf(db, row));
}

/** Those that are not well first. */
export function monitorsForPeople(db: Unpacking, from: number, limit: number): MonitorRow[] {
  return db
    .all<Stored>(
      `${SELECT} ORDER BY json_extract(state, '$.told') = 'nothing', json_extract(state, '$.standing') <> 'down', name LIMIT ? OFFSET ?`,
      limit,
      from,
    )
    .map((row) => rowOf(db, row));
}

/** How many there are, how many of them have an open alert, and when the next look is due. */
export function monitorCounts(db: Reader): {
  readonly total: number;
  readonly troubled: number;
  readonly nextAt: number | null;
} {
  const {
    nextAt = null,
    total = 0,
    troubled = 0,
  } = db.get<{ total: number; troubled: number; nextAt: number | null }>(
    `SELECT count(*) AS total, count(*) FILTER (WHERE json_extract(state, '$.told') <> 'nothing') AS troubled, min(next_at) AS nextAt
       FROM monitors`,
  ) ?? {};
  return { total, troubled, nextAt };
}

export function monitorsToRepair(db: Unpacking): MonitorRow[] {
  return db
    .all<Stored>(`${SELECT} WHERE repair IS NOT NULL AND json_extract(repair, '$.status') = 'wanted' LIMIT 256`)
    .map((row) => rowOf(db, row));
}
