/** What the database of a stopped server says about decisions, alerts and messages, as plain rows: the material of the invariants. */
import Database from "better-sqlite3";

export interface DecisionFact {
  readonly title: string;
  readonly status: string;
  readonly resolutions: number;
  readonly continuations: number;
  /** Submissions that won. */
  readonly won: number;
}
/** A message, or an edit of one. */
export interface MessageFact {
  readonly effectNo: number;
  readonly shortId: string;
  readonly purpose: string;
  readonly type: string;
  readonly status: string;
  readonly place: string;
  readonly error: string | null;
  /** Titles of what it tells: the decision, the alert, all alerts of a list. */
  readonly about: readonly string[];
}
export interface PartFact {
  readonly effectNo: number;
  readonly place: string;
  readonly part: number;
  readonly state: string;
  readonly reference: string | null;
}
export interface AlertFact {
  readonly title: string;
  readonly audience: string;
}
export interface RunFact {
  readonly title: string;
  readonly status: string;
}

export interface Facts {
  readonly runs: readonly RunFact[];
  readonly decisions: readonly DecisionFact[];
  readonly alerts: readonly AlertFact[];
  readonly messages: readonly MessageFact[];
  readonly parts: readonly PartFact[];
}

const MESSAGES = `SELECT e.effect_no AS effectNo, e.short_id AS shortId, e.purpose, e.effect_type AS type, e.status, e.place, e.error,
    d.title AS decision, m.alert_no AS alertNo, m.episode, m.digest_no AS digestNo
  FROM effects e LEFT JOIN human_decisions d USING (decision_no) LEFT JOIN alert_messages m ON m.effect_no = e.effect_no
  WHERE e.channel_id IS NOT NULL ORDER BY e.effect_no`;

type StoredMessage = Omit<MessageFact, "about"> & {
  readonly decision: string | null;
  readonly alertNo: number | null;
  readonly episode: number | null;
  readonly digestNo: number | null;
};

/** Reads the database of a stopped server, without changing it. */
export function readFacts(path: string): Facts {
  const db = new Database(path, { readonly: true });
  const all = <T>(sql: string): T[] => db.prepare(sql).all() as T[];
  try {
    const titles = new Map(
      all<{ key: string; title: string }>(
        "SELECT alert_no || '/' || episode AS \"key\", coalesce(facts ->> '$.title', facts ->> '$.lines[0]') AS title FROM alert_episodes",
      ).map(({ key, title }) => [key, title]),
    );
    const members = all<{ digestNo: number; key: string }>(
      "SELECT digest_no AS digestNo, alert_no || '/' || episode AS \"key\" FROM alert_digest_members",
    );
    const listed = new Map<number, string[]>();
    for (const { digestNo, key } of members)
      listed.set(digestNo, [...(listed.get(digestNo) ?? []), titles.get(key) ?? key]);
    const aboutOf = ({ alertNo, decision, digestNo, episode }: StoredMessage): string[] => {
      if (decision !== null) return [decision];
      if (digestNo !== null) return listed.get(digestNo) ?? [];
      return alertNo === null ? [] : [titles.get(`${alertNo}/${episode}`) ?? ""];
    };
    return {
      runs: all("SELECT title, status FROM runs ORDER BY run_no"),
      decisions: all(
        `SELECT title, status, (SELECT count(*) FROM human_decision_resolutions r WHERE r.decision_no = d.decision_no) AS resolutions,
           (SELECT count(*) FROM run_continuations c WHERE c.cause_id = d.decision_id) AS continuations,
           (SELECT count(*) FROM human_decision_submissions s WHERE s.decision_no = d.decision_no AND s.outcome = 'won') AS won
         FROM human_decisions d ORDER BY decision_no`,
      ),
      alerts: all(
        "SELECT DISTINCT coalesce(facts ->> '$.title', facts ->> '$.lines[0]') AS title, audience FROM alert_episodes JOIN alerts USING (alert_no) ORDER BY alert_no",
      ),
      messages: all<StoredMessage>(MESSAGES).map((row) => {
        const { alertNo: _a, decision: _d, digestNo: _l, episode: _e, ...message } = row;
        return { ...message, about: aboutOf(row) };
      }),
      parts: all(
        "SELECT effect_no AS effectNo, place, part, state, reference FROM (SELECT p.*, e.place FROM effect_parts p JOIN effects e USING (effect_no)) ORDER BY effect_no, attempt_number, part",
      ),
    };
  } finally {
    db.close();
  }
}
