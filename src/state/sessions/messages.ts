/**
 * Messages of a run in its session: one effect each, in the order of their numbers, one at a time. What they say is computed when they are
 * given out; the hidden id in the session is the effect's id.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import { stepText, type StepReason } from "../../contracts/agent-step.ts";
import { PI, sessionDestination } from "../../contracts/config.ts";
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { SESSION } from "../../contracts/limits.ts";
import type { MessageContent } from "../../contracts/protocol/channel.ts";
import type { SessionMessage } from "../../contracts/pi/session-message.ts";
import type { ErrorRecord } from "../../contracts/errors.ts";
import { ensureChannel } from "../channels/rows.ts";
import { cancelPending, insertEffect, type EffectRow } from "../effects/rows.ts";
import { cancelFollowUpsOf } from "../follow-ups/cancel.ts";
import { requestById, stepOf, type AgentRequestRow } from "../interactions/rows.ts";
import { type RunRow, runByNo, shortIdOf } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";
import { bindingOf } from "./bindings.ts";

/** What is stored of a message; the rest is read when it is sent. */
type Stored =
  | {
      readonly kind: "step";
      readonly requestId: string;
      readonly reason: StepReason;
      readonly reminder?: number;
      readonly problem?: string;
    }
  | { readonly kind: "terminal" }
  | { readonly kind: "followUp"; readonly followUpId: string };

/** Queues a message for the session of a run, once for each key; nothing for a run without one. */
function queueMessage(tx: Tx, run: RunRow, key: string, stored: Stored): void {
  const binding = bindingOf(tx, run.runNo);
  if (binding === undefined) return;
  ensureChannel(tx, { channelId: PI, kind: PI, profile: "" });
  insertEffect(tx, {
    purpose: "message",
    effectType: `message.${stored.kind}`,
    key: `message:${run.runId}:${key}`,
    resourceNo: run.resourceNo,
    request: stored,
    requestDigest: sha256Digest(stored),
    runNo: run.runNo,
    channelId: PI,
    destination: sessionDestination(binding.sessionId),
    place: binding.sessionId,
  });
}

/** A text for the step's agent. `number` tells the messages of one request apart: the first is 0. */
export function queueStep(
  tx: Tx,
  run: RunRow,
  request: Pick<AgentRequestRow, "requestId">,
  message: {
    readonly number: number;
    readonly reason: StepReason;
    readonly reminder?: number;
    readonly problem?: string | undefined;
  },
): void {
  const { number, problem, reason, reminder } = message;
  queueMessage(tx, run, `step:${request.requestId}:${number}`, {
    kind: "step",
    requestId: request.requestId,
    reason,
    ...(reminder === undefined ? {} : { reminder }),
    ...(problem === undefined ? {} : { problem }),
  });
}

/** How the run ended, once, and after a success the prompts that were queued, in their order; those that can never go out are cancelled. */
export function queueEnding(tx: Tx, run: RunRow): void {
  queueMessage(tx, run, "terminal", { kind: "terminal" });
  if (run.status !== "completed") {
    cancelFollowUpsOf(tx, run.runNo, `the run ended as ${run.status}`);
    return;
  }
  const followUps = tx.all<{ id: string }>(
    "SELECT follow_up_id AS id FROM workflow_follow_ups WHERE run_no = ? AND status = 'queued' ORDER BY order_number",
    run.runNo,
  );
  // Without a session nothing would ever take them: they would be "queued" for ever and keep the run from being pruned.
  if (followUps.length > 0 && bindingOf(tx, run.runNo) === undefined) {
    cancelFollowUpsOf(tx, run.runNo, "the run has no Pi session to send it to");
    return;
  }
  for (const { id } of followUps) queueMessage(tx, run, `followUp:${id}`, { kind: "followUp", followUpId: id });
}

/** What was not sent of a run's step is no longer wanted. */
export function cancelSteps(tx: Tx, runNo: number): void {
  cancelPending(tx, "run_no = ? AND effect_type = 'message.step'", runNo);
}

/** Whether a step message of this run waits to be sent. */
export function hasUnsentStep(tx: Tx, runNo: number): boolean {
  const sql =
    "SELECT 1 FROM effects WHERE run_no = ? AND effect_type = 'message.step' AND status IN ('pending', 'applying')";
  return tx.get(sql, runNo) !== undefined;
}

export function storedOf(tx: Tx, effect: EffectRow): Stored {
  return tx.unpack(effect.request) as unknown as Stored;
}

/** What an attempt at a message carries. */
export function messageContent(tx: Tx, effect: EffectRow): MessageContent {
  return { kind: "session", message: messageOf(tx, effect) };
}

function messageOf(tx: Tx, effect: EffectRow): SessionMessage {
  const stored = storedOf(tx, effect);
  const run = runByNo(tx, effect.runNo as number);
  const named = tx.get<{ title: string | null }>("SELECT title FROM runs WHERE run_no = ?", run.runNo);
  const which = {
    runId: run.runId,
    runShortId: shortIdOf(tx, run.runId),
    workflow: run.workflowName,
    title: named?.title ?? null,
  };
  switch (stored.kind) {
    case "step": {
      const { problem, reason, reminder, requestId } = stored;
      const request = requestById(tx, requestId) as AgentRequestRow;
      const step = stepOf(tx, request);
      const text = stepText({ ...step, nodeId: request.nodeId }, reason, {
        requestId,
        ...(reminder === undefined ? {} : { reminder }),
        problem,
      });
      const { contract, statusDetail } = step;
      return { kind: "step", ...which, reason, requestId, nodeId: request.nodeId, contract, statusDetail, text };
    }
    case "terminal":
      return { kind: "terminal", ...which, ...endOf(tx, run) };
    case "followUp": {
      const row = tx.get<{ prompt: string; number: number }>(
        'SELECT prompt, order_number AS "number" FROM workflow_follow_ups WHERE follow_up_id = ?',
        stored.followUpId,
      );
      if (row === undefined) throw new Error(`follow-up ${stored.followUpId} does not exist`);
      const prompt = tx.unpack(row.prompt) as string;
      return { kind: "followUp", ...which, followUpId: stored.followUpId, orderNumber: row.number, prompt };
    }
  }
}

type End = Pick<
  Extract<SessionMessage, { kind: "terminal" }>,
  "status" | "result" | "error" | "steps" | "startedAt" | "finishedAt"
>;

function endOf(tx: Tx, run: RunRow): End {
  const row = tx.get<{ output: string | null; error: string | null; startedAt: number; finishedAt: number | null }>(
    "SELECT final_output AS output, error, created_at AS startedAt, finished_at AS finishedAt FROM runs WHERE run_no = ?",
    run.runNo,
  );
  if (row === undefined) throw new Error(`run ${run.runId} does not exist`);
  return {
    status: run.status as End["status"],
    result: row.output === null ? null : cutToUnits(tx.unpackText(row.output), SESSION.resultChars),
    error: row.error === null ? null : (tx.unpack(row.error) as unknown as ErrorRecord),
    steps: run.steps,
    startedAt: row.startedAt,
    finishedAt: row.finishedAt ?? tx.now,
  };
}
