/**
 * `notifications.send`: a passive message of a run, stored once for each node and visit with its number in the run. With an
 * audience, one message goes to each of its destinations, as an effect like every visible message.
 */
import type { Severity } from "../../contracts/alert.ts";
import { chatsOf, parseDestination, sessionDestination } from "../../contracts/config.ts";
import { sha256Digest } from "../../contracts/canonical.ts";
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { resourceId } from "../../contracts/ids.ts";
import { NOTIFY } from "../../contracts/limits.ts";
import { ensureChannel } from "../channels/rows.ts";
import { defineCommand } from "../command.ts";
import { audienceNamed, type Access } from "../decisions/access.ts";
import { tellKeyed } from "./keyed.ts";
import { insertEffect } from "../effects/rows.ts";
import { claimedRun, openAttempt, type RunRow, runnerActor } from "../runs/rows.ts";
import { bindingOf } from "../sessions/bindings.ts";
import type { Claim, Tx } from "../tx.ts";

/** Of the message in the event chain. */
const EXCERPT_UNITS = 200;

export interface SendInput {
  readonly claim: Claim;
  readonly step: number;
  readonly nodeId: string;
  readonly kind: "progress" | "final";
  readonly message: string;
  /** How it is written; left out or null: it is text. */
  readonly format?: "markdown" | null;
  /** Whom it is sent to in chat; null = the origin session only. */
  readonly audience: string | null;
  /** An audience that is not configured is none, instead of an error. */
  readonly ifConfigured?: boolean;
  /** Left out: info. */
  readonly severity?: Severity;
  /** With it, messages of this run under the same key are one thing: edited, and closed by the final one. */
  readonly groupKey?: string | null;
  readonly silent?: boolean;
  readonly access: Access;
}

/**
 * A node that is executed again after an interruption gets the number of its first message, whatever it says now: that one
 * may have been read. Throws `claimLost`, `protocolRejected`, `audienceUnknown`, `outputTooLarge`.
 */
export const send = defineCommand("notifications.send", (tx, input: SendInput): { index: number } => {
  const { access, claim, format = null, groupKey = null, kind, message, nodeId, severity = "info" } = input;
  const there = input.ifConfigured !== true || Object.hasOwn(access.audiences, input.audience ?? "");
  const audience = there ? input.audience : null;
  const run = claimedRun(tx, claim);
  const open = openAttempt(tx, run);
  if (open?.status !== "running" || open.nodeId !== nodeId || run.steps !== input.step) {
    throw new HoldpointError(
      "protocolRejected",
      `Node "${nodeId}" (step ${input.step}) of run ${run.runId} is not the one that is being executed.`,
    );
  }
  const limit = groupKey === null ? NOTIFY.messageChars : NOTIFY.keyedChars;
  if (message.length > limit)
    throw new HoldpointError(
      "outputTooLarge",
      `The message of node "${nodeId}" has ${message.length} characters; the limit is ${limit}${groupKey === null ? "" : " for one with a groupKey"}.`,
      { details: { limit, seen: message.length } },
    );
  const stored = tx.get<{ number: number }>(
    'SELECT notification_index AS "number" FROM notifications WHERE run_no = ? AND node_id = ? AND visit = ?',
    run.runNo,
    nodeId,
    open.visit,
  );
  if (stored !== undefined) return { index: stored.number };
  const destinations = audience === null ? [] : audienceNamed(access, audience).destinations;
  const notificationId = resourceId("notification", [run.runId, nodeId, String(open.visit)].join("\0"));
  const index =
    tx.get<{ count: number }>('SELECT count(*) AS "count" FROM notifications WHERE run_no = ?', run.runNo)?.count ?? 0;
  tx.run(
    `INSERT INTO notifications (notification_id, run_no, notification_index, node_id, visit, kind, message, format, audience, severity, group_key, silent, created_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    notificationId,
    run.runNo,
    index,
    nodeId,
    open.visit,
    kind,
    tx.pack(message),
    format,
    audience,
    severity,
    groupKey,
    input.silent === true ? 1 : 0,
    tx.now,
  );
  tx.event(run.resourceNo, {
    type: "notification.stored",
    actor: runnerActor(claim),
    payload: { notificationId, index, nodeId, kind, audience, message: cutToUnits(message, EXCERPT_UNITS) },
  });
  const session = bindingOf(tx, run.runNo);
  if (session !== undefined)
    post(tx, run, { notificationId, nodeId, destination: sessionDestination(session.sessionId) });
  if (audience !== null && groupKey !== null && tellKeyed(tx, run, { ...input, audience, groupKey })) return { index };
  // A run without a session has nobody there to tell.
  for (const destination of chatsOf(destinations)) post(tx, run, { notificationId, nodeId, destination });
  return { index };
});

function post(tx: Tx, run: RunRow, to: { notificationId: string; nodeId: string; destination: string }): void {
  const { destination, nodeId, notificationId } = to;
  const { channel, kind, place, profile } = parseDestination(destination);
  ensureChannel(tx, { channelId: channel, kind, profile });
  const request = { notificationId, destination };
  insertEffect(tx, {
    purpose: "notification",
    effectType: "notification.post",
    key: `notification:${notificationId}:${destination}`,
    resourceNo: run.resourceNo,
    request,
    requestDigest: sha256Digest(request),
    runNo: run.runNo,
    nodeId,
    channelId: channel,
    destination,
    place,
  });
}
