/** Reads of alerts for views. */
import type { AlertView } from "../../contracts/protocol/alert-operations.ts";
import { PAGE } from "../../contracts/limits.ts";
import type { ReadDb } from "../reading.ts";
import { alertByRef, alertsWhere, countLive, episodeOf, type AlertRow } from "./rows.ts";
import { nextAlertAt } from "./tend.ts";
import type { JsonReader } from "../effects/views.ts";

export interface RepairAsked {
  readonly alertId: string;
  readonly audience: string;
  readonly groupKey: string;
  readonly episode: number;
  /** As the chat called the person. */
  readonly by: string | null;
  readonly at: number;
}

export const reads = (db: ReadDb) => ({
  /** Those that hold or are unstable, those that nobody has taken first; with `all` also the others, newest change first. At most a page. */
  list({ all }: { all: boolean }): AlertView[] {
    const rows = alertsWhere(
      db,
      `${all ? "" : "WHERE a.live = 1"} ORDER BY a.live DESC, a.alert_no DESC LIMIT ${PAGE.rows}`,
    );
    return rows.map((row) => alertView(db, row)).sort((a, b) => rank(a) - rank(b));
  },
  /** Throws `alertNotFound` or `ambiguousId`. */
  get: (ref: string): AlertView => alertView(db, alertByRef(db, ref)),
  count: (): number => countLive(db),
  /** When `alerts.tend` has something to do. */
  nextAt: (): number | null => nextAlertAt(db),
  /** Wishes for a repair that nobody has taken yet, oldest first. */
  repairsAsked(): RepairAsked[] {
    return db.all<RepairAsked>(
      `SELECT a.alert_id AS alertId, a.audience, a.group_key AS groupKey, p.episode, p.repair_asked_by AS by, p.repair_asked_at AS at
       FROM alert_episodes p INDEXED BY alert_episodes_repair JOIN alerts a ON a.alert_no = p.alert_no
       WHERE p.repair_asked_at IS NOT NULL AND p.repair_taken_at IS NULL ORDER BY p.repair_asked_at LIMIT ${PAGE.rows}`,
    );
  },
});

function rank({ acknowledgedAt, state }: AlertView): number {
  if (state === "recovered") return 2;
  return acknowledgedAt === null ? 0 : 1;
}

/** An alert with its newest episode. */
export function alertView(
  db: JsonReader,
  { alertId, alertNo, audience, episode: number, groupKey, shortId, state }: AlertRow,
): AlertView {
  const episode = episodeOf(db, alertNo, number);
  const { facts } = episode;
  const deliveries = db.all<{ destination: string; status: string; sent: number }>(
    `SELECT m.destination, e.status, EXISTS (SELECT 1 FROM effect_parts p WHERE p.effect_no = e.effect_no AND p.state = 'accepted') AS sent
     FROM alert_messages m JOIN effects e ON e.effect_no = m.effect_no WHERE m.kind IN ('card', 'digest') AND ((m.alert_no = ?1 AND m.episode = ?2)
       OR m.digest_no IN (SELECT digest_no FROM alert_digest_members WHERE alert_no = ?1 AND episode = ?2)) ORDER BY m.effect_no LIMIT 64`,
    alertNo,
    number,
  );
  const newest = new Map(deliveries.map((delivery) => [delivery.destination, delivery]));
  return {
    alertId,
    shortId,
    audience,
    groupKey,
    state: state.flapping ? "flapping" : state.open ? "open" : "recovered",
    holds: state.open,
    severity: episode.severity,
    subject: facts.subject,
    condition: facts.condition,
    title: facts.title,
    lines: [...facts.lines],
    origin: facts.origin,
    since: episode.since,
    endedAt: episode.endedAt,
    seen: episode.seen,
    episodes: number,
    acknowledgedAt: episode.acknowledgedAt,
    acknowledgedBy: episode.acknowledgedBy,
    snoozedUntil: state.snoozedUntil,
    repairAskedAt: episode.repairAskedAt,
    told: [...newest.values()].map(({ destination, sent, status }) => ({
      destination,
      status:
        sent === 1
          ? "sent"
          : status === "pending" || status === "applying"
            ? "waiting"
            : status === "ambiguous"
              ? "doubtful"
              : "notSent",
    })),
  };
}
