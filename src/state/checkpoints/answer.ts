/** `checkpoints.answer`: the answer becomes the node's output and causes the one continuation. */
import { sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { next } from "../../contracts/states.ts";
import { defineCommand } from "../command.ts";
import { type Receipt, type Receipted, withReceipt } from "../receipts.ts";
import { checkRevision } from "../runs/control.ts";
import { ackOf, type RunAck, runByNo } from "../runs/rows.ts";
import { continueFrom } from "../runs/waiting.ts";
import type { Actor, Tx } from "../tx.ts";
import { checkpointByRef, type CheckpointRow, pendingOf } from "./rows.ts";

export interface AnswerInput {
  /** Checkpoint or run: short id, unique prefix or full id. */
  readonly request: string;
  readonly answer: JsonValue;
  /** Of the run. */
  readonly expectedRevision: number | null;
  readonly receipt: Receipt | null;
  readonly actor: Actor;
}

/**
 * A pause does not stop an answer; the run goes on when it is resumed. Throws `requestNotFound`, `ambiguousId`,
 * `runNotFound`, `revisionConflict`, and `answerRefused` for a decision, or for a checkpoint that is over.
 */
export const answer = defineCommand("checkpoints.answer", (tx, input: AnswerInput): Receipted<RunAck> =>
  withReceipt(tx, input.receipt, () => {
    const row = checkpointByRef(tx, input.request, tx.now);
    const run = runByNo(tx, row.runNo);
    checkRevision(tx, run, input.expectedRevision);
    if (row.status !== "pending") throw over(tx, row);
    tx.run(
      "UPDATE interactive_requests SET status = ?, answer = ?, settled_by = ?, settled_at = ? WHERE request_id = ?",
      next("request", row.status, "answered"),
      tx.pack(input.answer),
      `${input.actor.type}:${input.actor.id}`,
      tx.now,
      row.requestId,
    );
    tx.event(run.resourceNo, {
      type: "checkpoint.answered",
      actor: input.actor,
      payload: {
        requestId: row.requestId,
        nodeId: row.nodeId,
        visit: row.visit,
        answerDigest: sha256Digest(input.answer),
      },
    });
    continueFrom(tx, row.runNo, {
      cause: { type: "checkpoint", id: row.requestId },
      output: input.answer,
      actor: input.actor,
    });
    return ackOf(tx, runByNo(tx, row.runNo));
  }),
);

function over(tx: Tx, row: CheckpointRow): HoldpointError {
  const at = new Date(row.settledAt ?? 0).toISOString();
  const how = row.status === "settled" ? `was answered at ${at}` : `was cancelled with its run at ${at}`;
  const now = pendingOf(tx, row.runNo);
  const options = now === undefined ? {} : { remedy: `The run waits for checkpoint ${now.shortId} now.` };
  return new HoldpointError("answerRefused", `Checkpoint ${row.shortId} ${how}.`, {
    ...options,
    details: { requestId: row.requestId, status: row.status, settledAt: row.settledAt },
  });
}
