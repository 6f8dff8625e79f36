/** Rows of alerts and their episodes: how they are loaded, made and changed. */
import type { AlertLine, AlertName, AlertOrigin, Severity } from "../../contracts/alert.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { resolveId, resourceId, shortId } from "../../contracts/ids.ts";
import { isLive, nextAt, type AlertState } from "../../alert/index.ts";
import type { JsonReader } from "../effects/views.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";

export interface AlertRow {
  readonly alertNo: number;
  readonly alertId: string;
  readonly shortId: string;
  readonly resourceNo: number;
  readonly audience: string;
  readonly groupKey: string;
  readonly episode: number;
  readonly state: AlertState;
}

type StoredAlert = Omit<AlertRow, "state"> & { readonly state: string };

const COLUMNS = `a.alert_no AS alertNo, a.alert_id AS alertId, a.short_id AS shortId, a.resource_no AS resourceNo, a.audience, a.group_key AS groupKey,
  a.episode, a.state`;

/** What was reported last, as a message shows it. */
export interface Facts extends Omit<AlertName, "severity"> {
  readonly lines: readonly AlertLine[];
  readonly origin: AlertOrigin | null;
  readonly repair: boolean;
}

export interface Ending {
  /** Of a workflow's last word; null: of what has ended. */
  readonly severity: Severity | null;
  readonly title: string | null;
  readonly lines: readonly AlertLine[];
}

export interface EpisodeRow {
  readonly alertNo: number;
  readonly episode: number;
  revision: number;
  readonly severity: Severity;
  readonly loud: number;
  readonly facts: Facts;
  readonly since: number;
  readonly seen: number;
  readonly changes: number;
  readonly acknowledgedAt: number | null;
  readonly acknowledgedBy: string | null;
  readonly snoozedUntil: number | null;
  readonly snoozedBy: string | null;
  readonly repairAskedAt: number | null;
  readonly repairAskedBy: string | null;
  readonly endedAt: number | null;
  readonly ending: Ending | null;
}

type StoredEpisode = Omit<EpisodeRow, "facts" | "ending"> & { readonly facts: string; readonly ending: string | null };

const EPISODE = `SELECT alert_no AS alertNo, episode, revision, severity, loud, facts, since, seen, changes, acknowledged_at AS acknowledgedAt,
  acknowledged_by AS acknowledgedBy, snoozed_until AS snoozedUntil, snoozed_by AS snoozedBy, repair_asked_at AS repairAskedAt,
  repair_asked_by AS repairAskedBy, ended_at AS endedAt, ending FROM alert_episodes WHERE alert_no = ? AND episode = ?`;

/** Alerts that a condition on `a` names. */
export function alertsWhere(db: JsonReader, where: string, ...params: (string | number)[]): AlertRow[] {
  return db
    .all<StoredAlert>(`SELECT ${COLUMNS} FROM alerts a ${where}`, ...params)
    .map((row) => ({ ...row, state: db.unpack(row.state) as unknown as AlertState }));
}

export function alertIdOf(audience: string, groupKey: string): string {
  return resourceId("alert", `${audience}\0${groupKey}`);
}

export function alertById(db: JsonReader, alertId: string): AlertRow | undefined {
  return alertsWhere(db, "WHERE a.alert_id = ?", alertId)[0];
}

export function alertByNo(db: JsonReader, alertNo: number): AlertRow {
  const [row] = alertsWhere(db, "WHERE a.alert_no = ?", alertNo);
  if (row === undefined) throw new Error(`alert ${alertNo} does not exist`);
  return row;
}

/** By full id, unique prefix, short id, or its grouping key where only one has it. Throws `alertNotFound` or `ambiguousId`. */
export function alertByRef(db: JsonReader, given: string): AlertRow {
  const exact = alertById(db, given);
  if (exact !== undefined) return exact;
  const candidates = db.all<{ id: string; short: string; key: string }>(
    `SELECT alert_id AS id, short_id AS short, group_key AS "key" FROM alerts
     WHERE group_key = ?1 OR substr(short_id, 1, length(?1)) = ?1 OR substr(alert_id, 1, length(?1)) = ?1 ORDER BY alert_no DESC LIMIT 20`,
    given,
  );
  const keyed = candidates.filter(({ key }) => key === given);
  const id =
    keyed.length === 1 && keyed[0] !== undefined
      ? keyed[0].id
      : resolveId(
          given,
          keyed.length > 1 ? keyed.map((one) => ({ ...one, short: given })) : candidates,
          "alert",
          "alertNotFound",
        );
  const found = alertById(db, id);
  if (found === undefined) throw new HoldpointError("alertNotFound", `No alert fits "${given}".`);
  return found;
}

export function episodeOf(db: JsonReader, alertNo: number, episode: number): EpisodeRow {
  const row = db.get<StoredEpisode>(EPISODE, alertNo, episode);
  if (row === undefined) throw new Error(`alert ${alertNo} has no episode ${episode}`);
  return {
    ...row,
    facts: db.unpack(row.facts) as unknown as Facts,
    ending: row.ending === null ? null : (db.unpack(row.ending) as unknown as Ending),
  };
}

/** The alert of an audience and key in its new state, made when it does not exist. */
export function saveAlert(tx: Tx, key: { audience: string; groupKey: string }, state: AlertState): AlertRow {
  const alertId = alertIdOf(key.audience, key.groupKey);
  const resourceNo = tx.resource("alert", alertId);
  tx.run(
    `INSERT INTO alerts (alert_id, short_id, resource_no, audience, group_key, live, episode, next_at, state) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (alert_id) DO UPDATE SET live = excluded.live, episode = excluded.episode, next_at = excluded.next_at, state = excluded.state`,
    alertId,
    shortId("a", alertId),
    resourceNo,
    key.audience,
    key.groupKey,
    isLive(state) ? 1 : 0,
    state.episode,
    nextAt(state),
    tx.pack(state),
  );
  return alertById(tx, alertId) as AlertRow;
}

/** Columns of an episode that a command changes. Its revision grows: every message of it may show something else now. */
export function changeEpisode(
  tx: Tx,
  episode: Pick<EpisodeRow, "alertNo" | "episode">,
  change: Readonly<Record<string, string | number | null>>,
): EpisodeRow {
  const columns = Object.keys(change).map((column) => `${column} = ?`);
  tx.run(
    `UPDATE alert_episodes SET ${["revision = revision + 1", ...columns].join(", ")} WHERE alert_no = ? AND episode = ?`,
    ...Object.values(change),
    episode.alertNo,
    episode.episode,
  );
  return episodeOf(tx, episode.alertNo, episode.episode);
}

/** Ids of alerts in the order in which they were made. */
export function countLive(db: Reader): number {
  return db.get<{ n: number }>("SELECT count(*) AS n FROM alerts WHERE live = 1")?.n ?? 0;
}
