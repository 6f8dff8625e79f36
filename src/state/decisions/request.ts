/**
 * A decision becomes pending: one command stores the normalized request, parks the run, releases its claim and queues one card
 * for each destination of the audience. Everything that can be wrong with the request is refused before that.
 */
import { postedTo } from "../../contracts/config.ts";
import { isForDocument } from "../../contracts/decision/parts.ts";
import { normalizeRequest, fingerprintOf, type DecisionRequest } from "../../contracts/decision/request.ts";
import { defineCommand } from "../command.ts";
import { claimedRun, openAttempt } from "../runs/rows.ts";
import { waitFor } from "../runs/waiting.ts";
import type { Claim, Tx } from "../tx.ts";
import { nextReminder } from "../../decision/index.ts";
import { askedNames, audienceNamed, type Access } from "./access.ts";
import { queueDelivery } from "./deliver.ts";
import { snapshotOf } from "./policy.ts";

export interface RequestInput {
  readonly claim: Claim;
  readonly step: number;
  readonly nodeId: string;
  /** As the workflow evaluated it; normalized and digested again here. */
  readonly request: unknown;
  readonly access: Access;
}

export interface RequestResult {
  readonly decisionId: string;
  readonly fingerprint: string;
  /** Milliseconds since the epoch; null = it waits for ever. */
  readonly deadlineAt: number | null;
}

/** Throws `audienceUnknown` or `presentationInvalid` with nothing stored, `claimLost`, or `protocolRejected`. */
export const request = defineCommand("decisions.request", (tx: Tx, input: RequestInput): RequestResult => {
  const run = claimedRun(tx, input.claim);
  const audience = audienceNamed(input.access, fieldOf(input.request, "audience"));
  const attempt = openAttempt(tx, run);
  const normalized = normalizeRequest(input.request, {
    runId: run.runId,
    workflowName: run.workflowName,
    nodeId: input.nodeId,
    attemptId: `attempt-${attempt?.attemptNo ?? 0}`,
    createdAt: tx.now,
    policy: snapshotOf(audience.policy, {
      choices: fieldOf(input.request, "choices"),
      timeZone: input.access.timeZone,
    }),
  });
  const at = { step: input.step, nodeId: input.nodeId, kind: "decision" } as const;
  const { attemptNo } = waitFor(tx, run, input.claim, at);
  const resourceNo = tx.resource("decision", normalized.decisionId);
  const { decisionId, expiresAt = null, requestDigest } = normalized;
  const fingerprint = fingerprintOf(requestDigest);
  const document = isLong(normalized) ? 1 : 0;
  const decisionNo = insertDecision(tx, {
    normalized,
    document,
    resourceNo,
    runNo: run.runNo,
    attemptNo,
    fingerprint,
    access: input.access,
  });
  const actor = { type: "runner", id: input.claim.runnerEpoch };
  const payload = {
    decisionId,
    fingerprint,
    nodeId: input.nodeId,
    title: normalized.title,
    audience: normalized.audience,
    deadlineAt: expiresAt,
    requestDigest,
  };
  tx.event(run.resourceNo, { type: "decision.requested", actor, payload });
  tx.event(resourceNo, { type: "decision.requested", actor, payload });
  for (const destination of postedTo(audience.destinations))
    queueDelivery(tx, { decisionId, decisionNo, requestDigest, resourceNo, document, destination, runNo: run.runNo });
  return { decisionId, fingerprint, deadlineAt: expiresAt };
});

/** Whether the whole text goes as a document. */
function isLong({ choices, presentation, title }: DecisionRequest): boolean {
  const buttons = choices.map(({ input, label }) => ({ label, hasInput: input !== undefined }));
  return isForDocument({ title, presentation, choices: buttons });
}

function fieldOf(authored: unknown, name: "audience" | "choices"): unknown {
  return typeof authored === "object" && authored !== null ? (authored as Record<string, unknown>)[name] : undefined;
}

interface NewDecision {
  readonly normalized: DecisionRequest;
  readonly document: number;
  readonly resourceNo: number;
  readonly runNo: number;
  readonly attemptNo: number;
  readonly fingerprint: string;
  readonly access: Access;
}

/** Returns the internal number. */
function insertDecision(
  tx: Tx,
  { access, attemptNo, document, fingerprint, normalized, resourceNo, runNo }: NewDecision,
): number {
  const { escalateAfter, remindAfter } = normalized.policy;
  const { lastInsertRowid: decisionNo } = tx.run(
    `INSERT INTO human_decisions (decision_id, resource_no, run_no, attempt_no, node_id, fingerprint, audience, title, request_digest, policy, status,
       deadline_at, default_response, time_zone, asked, document, remind_at, escalate_at, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?)`,
    normalized.decisionId,
    resourceNo,
    runNo,
    attemptNo,
    normalized.nodeId,
    fingerprint,
    normalized.audience,
    normalized.title,
    normalized.requestDigest,
    tx.pack(normalized.policy),
    normalized.expiresAt ?? null,
    normalized.defaultResponse === undefined ? null : tx.pack(normalized.defaultResponse),
    access.timeZone,
    JSON.stringify(askedNames(access, normalized.audience)),
    document,
    remindAfter === undefined ? null : nextReminder(remindAfter, tx.now, tx.now),
    escalateAfter === undefined ? null : tx.now + escalateAfter.afterMs,
    tx.now,
  );
  tx.run(
    "INSERT INTO human_decision_requests (decision_no, choices, request) VALUES (?, ?, ?)",
    decisionNo,
    tx.pack(normalized.choices),
    tx.pack(normalized),
  );
  return decisionNo;
}
