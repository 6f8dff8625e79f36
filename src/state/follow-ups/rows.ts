/** Rows of follow-ups, in the shape that the rules judge. */
import { HoldpointError } from "../../contracts/errors.ts";
import type { FollowUp, FollowUpActor } from "../../workflow/rules/index.ts";
import type { RunRow } from "../runs/rows.ts";
import type { Reader } from "../statements.ts";

export interface FollowUpRow extends FollowUp {
  readonly requestId: string;
  /** Packed. */
  readonly prompt: string;
  readonly reason: string | null;
  readonly createdAt: number;
  readonly settledAt: number | null;
}

type Raw = Omit<FollowUpRow, "source"> & { readonly kind: FollowUpActor["kind"]; readonly sourceId: string };

const SELECT = `SELECT follow_up_id AS followUpId, request_id AS requestId, order_number AS orderNumber, actor_type AS kind, actor_id AS sourceId, prompt,
  status AS state, reason, created_at AS createdAt, settled_at AS settledAt FROM workflow_follow_ups`;

/** All follow-ups of a run in their order; they are bounded by what a run may have unsent, and by what is sent one by one. */
export function followUpsOf(db: Reader, runNo: number): FollowUpRow[] {
  return db.all<Raw>(`${SELECT} WHERE run_no = ? ORDER BY order_number`, runNo).map(asRow);
}

/** The follow-up that a person means: its id or a unique prefix, or its number in the run. Throws `followUpRefused`. */
export function followUpByRef(db: Reader, run: RunRow, given: string): FollowUpRow {
  const all = followUpsOf(db, run.runNo);
  const fits = all.filter(
    ({ followUpId, orderNumber }) =>
      given === String(orderNumber) ||
      followUpId === given ||
      (given.length >= 4 && (followUpId.startsWith(given) || followUpId.startsWith(`follow-up-${given}`))),
  );
  const [only] = fits;
  if (only !== undefined && fits.length === 1) return only;
  const which = fits.length === 0 ? `has no follow-up "${given}"` : `has ${fits.length} follow-ups that fit "${given}"`;
  const list = all.map(({ orderNumber, state }) => `${orderNumber} (${state})`).join(", ");
  throw new HoldpointError("followUpRefused", `Run ${run.runId} ${which}; it has ${list || "none"}.`, {
    details: { given, candidates: fits.map(({ followUpId }) => followUpId) },
  });
}

function asRow({ kind, sourceId, ...rest }: Raw): FollowUpRow {
  return { ...rest, source: { kind, sourceId } };
}
