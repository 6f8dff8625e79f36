/**
 * Which alerts and lists of alerts nobody needs any more, and their deletion. A list goes when all of it is over; an alert goes when it has
 * been over since before, and no list that stays names it.
 */
import type Database from "better-sqlite3";

const OPEN = "e.status IN ('pending','applying','ambiguous')";

/** Lists that were closed before. */
const LISTS = `SELECT d.digest_no FROM alert_digests d WHERE d.closed_at < @before
  AND NOT EXISTS (SELECT 1 FROM alert_messages m JOIN effects e USING (effect_no) WHERE m.digest_no = d.digest_no AND ${OPEN})`;

/** Alerts that do not hold, whose every opening ended before, and of which time alone changes nothing any more. */
const ALERTS = `SELECT a.alert_no FROM alerts a WHERE a.live = 0 AND a.next_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM alert_episodes p WHERE p.alert_no = a.alert_no AND (p.ended_at IS NULL OR p.ended_at >= @before
    OR (p.repair_asked_at IS NOT NULL AND p.repair_taken_at IS NULL)))
  AND NOT EXISTS (SELECT 1 FROM alert_messages m JOIN effects e USING (effect_no) WHERE m.alert_no = a.alert_no AND ${OPEN})
  AND NOT EXISTS (SELECT 1 FROM alert_digest_members m WHERE m.alert_no = a.alert_no AND m.digest_no NOT IN (${LISTS}))`;

/** How many alerts can go. */
export function prunableAlerts(db: Database.Database, before: number): number {
  return db.prepare(`SELECT count(*) FROM (${ALERTS})`).pluck().get({ before }) as number;
}

/** Deletes their heads, inside a transaction; what belongs to them hangs then, and is for the caller to delete. */
export function deleteAlerts(db: Database.Database, before: number): void {
  const alerts = db.prepare(ALERTS).pluck().all({ before }) as number[];
  const lists = db.prepare(LISTS).pluck().all({ before }) as number[];
  const dropAlert = db.prepare("DELETE FROM alerts WHERE alert_no = ?");
  const dropChain = db.prepare(
    "DELETE FROM resources WHERE resource_no = (SELECT resource_no FROM alerts WHERE alert_no = ?)",
  );
  for (const alert of alerts) {
    dropChain.run(alert);
    dropAlert.run(alert);
  }
  // The messages of a list belong to its channel, which stays.
  const dropMessages = db.prepare(
    "DELETE FROM effects WHERE effect_no IN (SELECT effect_no FROM alert_messages WHERE digest_no = ?)",
  );
  const dropList = db.prepare("DELETE FROM alert_digests WHERE digest_no = ?");
  for (const list of lists) {
    dropMessages.run(list);
    dropList.run(list);
  }
}
