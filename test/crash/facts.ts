/** What a database says after the service has stopped, as plain rows: the material of the invariants. */
import Database from "better-sqlite3";

export interface RunFact {
  readonly runNo: number;
  readonly runId: string;
  readonly status: string;
  readonly queue: string;
  readonly steps: number;
  readonly leaseOwner: string | null;
  readonly title: string | null;
}
export interface AttemptFact {
  readonly runNo: number;
  readonly nodeId: string;
  readonly status: string;
  readonly step: number | null;
}
export interface DecisionFact {
  readonly decisionId: string;
  readonly runNo: number;
  readonly fingerprint: string;
  readonly status: string;
}
export interface ResolutionFact {
  readonly decisionId: string;
  readonly outcome: string;
  readonly provenance: string;
  readonly choice: string | null;
  readonly input: string | null;
}
/** One thing that was submitted for a decision: who, what, and what it came to. */
export interface SubmissionFact {
  readonly decisionId: string;
  readonly source: string;
  readonly actorId: string | null;
  readonly choice: string | null;
  readonly input: string | null;
  readonly outcome: string;
}
export interface ContinuationFact {
  readonly runNo: number;
  readonly cause: string;
  readonly causeId: string;
}
export interface EffectFact {
  readonly effectId: string;
  readonly shortId: string;
  readonly purpose: string;
  readonly type: string;
  readonly recovery: string | null;
  readonly runNo: number | null;
  readonly decisionId: string | null;
  readonly place: string | null;
  readonly reference: string | null;
  readonly status: string;
  /** Whether its message asks for the text of a choice. */
  readonly prompt: number;
}
export interface EffectAttemptFact {
  readonly effectId: string;
  readonly attempt: number;
  readonly state: string;
  /** When it says that it may be a repeat. */
  readonly repeatOf: number | null;
}
export interface PartFact {
  readonly effectId: string;
  readonly attempt: number;
  readonly part: number;
  readonly state: string;
  readonly reference: string | null;
}
/** A checkpoint that a run waits or waited for. */
export interface CheckpointFact {
  readonly requestId: string;
  readonly runNo: number;
  readonly status: string;
}
/** A time that a run sleeps or slept until. */
export interface TimerFact {
  readonly timerId: string;
  readonly status: string;
}
export interface EventFact {
  readonly runNo: number;
  readonly type: string;
  readonly payload: string;
}

export interface Facts {
  readonly runs: readonly RunFact[];
  readonly attempts: readonly AttemptFact[];
  readonly decisions: readonly DecisionFact[];
  readonly resolutions: readonly ResolutionFact[];
  readonly submissions: readonly SubmissionFact[];
  readonly continuations: readonly ContinuationFact[];
  readonly effects: readonly EffectFact[];
  readonly effectAttempts: readonly EffectAttemptFact[];
  readonly parts: readonly PartFact[];
  readonly events: readonly EventFact[];
  readonly checkpoints: readonly CheckpointFact[];
  readonly timers: readonly TimerFact[];
  /** Update ids that have a verdict. */
  readonly inbox: readonly number[];
  /** Child processes and runners that are not known to have ended. */
  readonly alive: readonly string[];
}

/** Reads the database of a stopped server, without changing it. */
export function readFacts(path: string): Facts {
  const db = new Database(path, { readonly: true });
  const all = <T>(sql: string): T[] => db.prepare(sql).all() as T[];
  try {
    return {
      runs: all(
        `SELECT run_no AS runNo, run_id AS runId, runs.status, run_queue.status AS queue, steps, owner_id AS leaseOwner, title
         FROM runs JOIN run_queue USING (run_no) LEFT JOIN leases USING (resource_no) ORDER BY run_no`,
      ),
      attempts: all(
        "SELECT run_no AS runNo, node_id AS nodeId, status, step FROM node_attempts ORDER BY run_no, attempt_no",
      ),
      decisions: all(
        "SELECT decision_id AS decisionId, run_no AS runNo, fingerprint, status FROM human_decisions ORDER BY run_no, attempt_no",
      ),
      resolutions: all(
        "SELECT decision_id AS decisionId, outcome, provenance, choice, input FROM human_decision_resolutions JOIN human_decisions USING (decision_no)",
      ),
      submissions: all(
        `SELECT decision_id AS decisionId, source, actor_id AS actorId, s.choice, s.input, s.outcome
         FROM human_decision_submissions s JOIN human_decisions USING (decision_no) ORDER BY submission_no`,
      ),
      continuations: all("SELECT run_no AS runNo, cause_type AS cause, cause_id AS causeId FROM run_continuations"),
      effects: all(
        `SELECT e.effect_id AS effectId, e.short_id AS shortId, purpose, effect_type AS type, recovery, e.run_no AS runNo,
           d.decision_id AS decisionId, e.place, target_reference AS reference, e.status, p.effect_no IS NOT NULL AS prompt
         FROM effects e LEFT JOIN human_decisions d USING (decision_no) LEFT JOIN decision_prompts p USING (effect_no) ORDER BY e.effect_no`,
      ),
      effectAttempts: all(
        "SELECT effect_id AS effectId, attempt_number AS attempt, state, repeat_of AS repeatOf FROM effect_attempts JOIN effects USING (effect_no) ORDER BY effect_no, attempt_number",
      ),
      parts: all(
        "SELECT effect_id AS effectId, attempt_number AS attempt, part, state, reference FROM effect_parts JOIN effects USING (effect_no)",
      ),
      events: all(
        "SELECT run_no AS runNo, event_type AS type, payload FROM events JOIN runs USING (resource_no) ORDER BY resource_no, event_index",
      ),
      checkpoints: all("SELECT request_id AS requestId, run_no AS runNo, status FROM interactive_requests"),
      timers: all("SELECT timer_id AS timerId, status FROM run_timers"),
      inbox: all<{ id: number }>("SELECT update_id AS id FROM channel_inbox").map(({ id }) => id),
      alive: [
        ...all<{ what: string }>("SELECT kind || ' ' || name AS what FROM child_processes WHERE ended_at IS NULL"),
        ...all<{ what: string }>(
          "SELECT 'runner row ' || runner_epoch AS what FROM run_runners WHERE status IN ('starting', 'ready')",
        ),
      ].map(({ what }) => what),
    };
  } finally {
    db.close();
  }
}
