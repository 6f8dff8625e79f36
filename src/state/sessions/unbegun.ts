/**
 * A step whose message is in its session although nothing came of it: Pi and whoever should have been told of the turn were gone together.
 * Nobody will come back to it by himself.
 */
import type { Reader } from "../statements.ts";

export interface Unbegun {
  readonly requestId: string;
  /** Hidden id of its last message. */
  readonly messageId: string;
}

/** A turn that began after the message arrived counts as its turn, whatever it was told to come of. */
const UNBEGUN = `SELECT q.request_id AS requestId, e.effect_id AS messageId FROM run_bindings b JOIN runs r USING (run_no)
    JOIN agent_requests q ON q.run_no = b.run_no AND q.status = 'pending'
    JOIN effects e ON e.effect_no = (SELECT max(s.effect_no) FROM effects s WHERE s.run_no = b.run_no AND s.effect_type = 'message.step')
  WHERE b.session_id = ? AND b.open = 1 AND r.paused = 0 AND e.status = 'applied' AND e.request ->> '$.requestId' = q.request_id
    AND NOT EXISTS (SELECT 1 FROM workflow_turns t WHERE t.session_id = b.session_id AND (t.effect_no = e.effect_no OR t.started_at >= e.settled_at))`;

/** The step of a session that waits without a turn that is or was at it. */
export function unbegun(db: Pick<Reader, "get">, session: string): Unbegun | undefined {
  return db.get<Unbegun>(UNBEGUN, session);
}
