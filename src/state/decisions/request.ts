/**
 * A decision becomes pending: one command stores the normalized request, parks the run, releases its claim and queues one card
 * for each destination of the audience. Everything that can be wrong with the request is refused before that.
 */
import { parseDestination, postedTo } from "../../contracts/config.ts";
import { normalizeRequest, fingerprintOf, type DecisionRequest } from "../../contracts/decision/request.ts";
import { ensureChannel } from "../channels/rows.ts";
import { defineCommand } from "../command.ts";
import { insertEffect } from "../effects/rows.ts";
import { claimedRun, openAttempt } from "../runs/rows.ts";
import { waitFor } from "../runs/waiting.ts";
import type { Claim, Tx } from "../tx.ts";
import { askedNames, audienceNamed, type Access } from "./access.ts";

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
  const audience = audienceNamed(input.access, audienceIn(input.request));
  const attempt = openAttempt(tx, run);
  const normalized = normalizeRequest(input.request, {
    runId: run.runId,
    workflowName: run.workflowName,
    nodeId: input.nodeId,
    attemptId: `attempt-${attempt?.attemptNo ?? 0}`,
    createdAt: tx.now,
    policy: audience.policy,
  });
  const at = { step: input.step, nodeId: input.nodeId, kind: "decision" } as const;
  const { attemptNo } = waitFor(tx, run, input.claim, at);
  const resourceNo = tx.resource("decision", normalized.decisionId);
  const { decisionId, expiresAt = null, requestDigest } = normalized;
  const fingerprint = fingerprintOf(requestDigest);
  const decisionNo = insertDecision(tx, {
    normalized,
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
    queueDelivery(tx, { decisionId, decisionNo, requestDigest, resourceNo, destination });
  return { decisionId, fingerprint, deadlineAt: expiresAt };
});

function audienceIn(authored: unknown): unknown {
  return typeof authored === "object" && authored !== null ? (authored as { audience?: unknown }).audience : undefined;
}

interface NewDecision {
  readonly normalized: DecisionRequest;
  readonly resourceNo: number;
  readonly runNo: number;
  readonly attemptNo: number;
  readonly fingerprint: string;
  readonly access: Access;
}

/** Returns the internal number. */
function insertDecision(
  tx: Tx,
  { access, attemptNo, fingerprint, normalized, resourceNo, runNo }: NewDecision,
): number {
  const { lastInsertRowid: decisionNo } = tx.run(
    `INSERT INTO human_decisions (decision_id, resource_no, run_no, attempt_no, node_id, fingerprint, audience, title, request_digest, policy, status,
       deadline_at, default_response, time_zone, asked, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?)`,
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
    tx.now,
  );
  tx.run("INSERT INTO human_decision_requests (decision_no, request) VALUES (?, ?)", decisionNo, tx.pack(normalized));
  return decisionNo;
}

function queueDelivery(
  tx: Tx,
  card: {
    decisionId: string;
    decisionNo: number;
    requestDigest: string;
    resourceNo: number;
    destination: string;
  },
): void {
  const { decisionId, decisionNo, destination, requestDigest, resourceNo } = card;
  const { channel, kind, place, profile } = parseDestination(destination);
  ensureChannel(tx, { channelId: channel, kind, profile });
  insertEffect(tx, {
    purpose: "delivery",
    effectType: "card.post",
    key: `delivery:${decisionId}:${destination}`,
    resourceNo,
    request: { decisionId, destination },
    requestDigest,
    decisionNo,
    channelId: channel,
    destination,
    place,
  });
}
