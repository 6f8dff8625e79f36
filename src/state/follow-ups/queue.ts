/** `followUps.queue`: a prompt that is sent as an ordinary turn after the run succeeded. */
import { HoldpointError } from "../../contracts/errors.ts";
import { isFinal, next } from "../../contracts/states.ts";
import {
  followUpId,
  judgeFollowUp,
  mayRemoveFollowUp,
  removedBefore,
  type FollowUpActor,
} from "../../workflow/rules/index.ts";
import { defineCommand } from "../command.ts";
import { type Receipt, type Receipted, withReceipt } from "../receipts.ts";
import { checkRevision } from "../runs/control.ts";
import { type RunRow, runByRef } from "../runs/rows.ts";
import type { Actor, Tx } from "../tx.ts";
import { followUpByRef, followUpsOf } from "./rows.ts";

interface OnRun {
  readonly run: string;
  /** Of the run. */
  readonly expectedRevision: number | null;
  readonly receipt: Receipt | null;
  /** Whom the server knows this to be. */
  readonly source: FollowUpActor;
}

export interface QueueInput extends OnRun {
  /** Stored exactly as given; one that begins with a slash stays plain text. */
  readonly prompt: string;
  /** The same request of the same source is queued once. */
  readonly requestId: string;
}

export interface FollowUpAck {
  readonly runId: string;
  readonly followUpId: string;
  readonly orderNumber: number;
  readonly status: string;
}

/** Throws `runNotFound`, `ambiguousId`, `revisionConflict`, `followUpRefused`, `idempotencyConflict`. */
export const queue = defineCommand("followUps.queue", (tx, input: QueueInput): Receipted<FollowUpAck> =>
  withReceipt(tx, input.receipt, () => {
    const { prompt, requestId, source } = input;
    const run = runByRef(tx, input.run);
    const id = followUpId(run.runId, source, requestId);
    const followUps = followUpsOf(tx, run.runNo);
    const known = followUps.find((followUp) => followUp.followUpId === id);
    if (known !== undefined) {
      if (tx.unpack(known.prompt) !== prompt)
        throw new HoldpointError("idempotencyConflict", `Request "${requestId}" queued another follow-up before.`);
      return { runId: run.runId, followUpId: id, orderNumber: known.orderNumber, status: known.state };
    }
    checkRevision(tx, run, input.expectedRevision);
    const { orderNumber } = judgeFollowUp(prompt, { ended: isFinal("run", run.status), followUps });
    tx.run(
      `INSERT INTO workflow_follow_ups (follow_up_id, run_no, request_id, order_number, actor_type, actor_id, prompt, status, created_at)
       VALUES (?, ?, ?, ?, ?, ?, ?, 'queued', ?)`,
      id,
      run.runNo,
      // Sources cannot collide: the id is made of both.
      `${source.kind}:${source.sourceId}:${requestId}`,
      orderNumber,
      source.kind,
      source.sourceId,
      tx.pack(prompt),
      tx.now,
    );
    tx.event(run.resourceNo, {
      type: "followUp.queued",
      actor: actorOf(source),
      payload: { followUpId: id, orderNumber, characters: prompt.length },
    });
    return { runId: run.runId, followUpId: id, orderNumber, status: "queued" };
  }),
);

export interface RemoveInput extends OnRun {
  /** Number in the run, id, or unique prefix. */
  readonly followUp: string;
}

/**
 * A pass of a manager that is repeated removes what it had removed, which changes nothing. Throws `followUpRefused` for one that is not
 * unsent, or that somebody else queued, unless a person removes it.
 */
export const remove = defineCommand("followUps.remove", (tx, input: RemoveInput): Receipted<FollowUpAck> =>
  withReceipt(tx, input.receipt, () => {
    const run = runByRef(tx, input.run);
    checkRevision(tx, run, input.expectedRevision);
    const followUp = followUpByRef(tx, run, input.followUp);
    const ack = { runId: run.runId, followUpId: followUp.followUpId, orderNumber: followUp.orderNumber };
    if (removedBefore(followUp, input.source)) return { ...ack, status: "removed" };
    const why = mayRemoveFollowUp(followUp, input.source);
    if (why !== undefined)
      throw new HoldpointError(
        "followUpRefused",
        `Follow-up ${followUp.orderNumber} of run ${run.runId} cannot be removed: ${why}.`,
      );
    settle(
      tx,
      run,
      followUp.followUpId,
      next("followUp", followUp.state, "removed"),
      `removed by ${input.source.kind}`,
    );
    tx.event(run.resourceNo, {
      type: "followUp.removed",
      actor: actorOf(input.source),
      payload: { followUpId: followUp.followUpId, orderNumber: followUp.orderNumber },
    });
    return { ...ack, status: "removed" };
  }),
);

function settle(tx: Tx, run: RunRow, id: string, status: string, reason: string): void {
  tx.run(
    "UPDATE workflow_follow_ups SET status = ?, reason = ?, settled_at = ? WHERE run_no = ? AND follow_up_id = ?",
    status,
    reason,
    tx.now,
    run.runNo,
    id,
  );
}

function actorOf({ kind, sourceId }: FollowUpActor): Actor {
  return { type: kind, id: sourceId };
}
