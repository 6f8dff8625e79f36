/** Reads of follow-ups for views. */
import type { FollowUp } from "../../workflow/rules/index.ts";
import type { ReadDb } from "../reading.ts";
import { followUpsOf } from "./rows.ts";

export interface FollowUpReadRow {
  readonly followUpId: string;
  readonly orderNumber: number;
  readonly status: FollowUp["state"];
  readonly source: string;
  readonly prompt: string;
  readonly reason: string | null;
  readonly createdAt: number;
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** Those of a run in their order. */
  byRun: (runNo: number): FollowUpReadRow[] =>
    followUpsOf(db, runNo).map(({ createdAt, followUpId, orderNumber, prompt, reason, source, state }) => ({
      followUpId,
      orderNumber,
      status: state,
      source: `${source.kind}:${source.sourceId}`,
      prompt: db.unpack(prompt) as string,
      reason,
      createdAt,
    })),
});
