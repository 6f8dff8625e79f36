/**
 * The operator's commands in a chat: `status`, and `recover <id> confirm|retry`. Anything else gets help.
 */
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import { isHoldpointError } from "../../contracts/errors.ts";
import type { Inbound } from "../../contracts/protocol/channel.ts";
import type { Access } from "../decisions/access.ts";
import { effectByRef } from "../effects/find.ts";
import { recoverMessage } from "../effects/operator.ts";
import { EFFECT_COLUMNS, type EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { authorize } from "./authorize.ts";
import type { Handled } from "./receive.ts";
import { waitingIn } from "./receive-text.ts";
import { queueReply, type Origin } from "./replies.ts";
import type { ChannelRow } from "./rows.ts";
import { wellFormed } from "../decisions/well-formed.ts";

export type ChatCommand = Extract<Inbound, { kind: "command" }>;

/** Messages in doubt that one status lists. */
const LISTED = 10;

export function receiveCommand(tx: Tx, channel: ChannelRow, command: ChatCommand, access: Access): Handled {
  const admitted = authorize(tx, access, channel.channelId, command);
  if (admitted !== "ok") return { verdict: admitted, ack: null };
  if (command.traits.length > 0) return { verdict: "ignored", ack: null };
  const origin: Origin = {
    channel,
    updateId: command.updateId,
    place: command.place,
    topic: command.topic,
    timeZone: access.timeZone,
  };
  const [word = "", ...rest] = command.args.trim().split(/\s+/);
  const ours = command.command.replaceAll("_", "-") === "workflow-channel";
  const reply =
    ours && word === "status"
      ? status(tx, origin)
      : ours && word === "recover"
        ? recover(tx, rest, command.sender.id, channel)
        : undefined;
  queueReply(tx, origin, {
    reply: reply ?? { code: "help", waiting: waitingIn(tx, channel.channelId, command.place) },
    to: command.reference,
  });
  return { verdict: reply?.code ?? "help", ack: null };
}

function status(tx: Tx, { channel, place }: Origin): ReplyCode {
  const { channelId } = channel;
  const count = tx.get<{ queued: number }>(
    "SELECT count(*) AS queued FROM effects WHERE channel_id = ? AND status IN ('pending', 'applying')",
    channelId,
  );
  const doubtful = tx.all<EffectRow>(
    `SELECT ${EFFECT_COLUMNS} FROM effects e WHERE e.channel_id = ? AND e.status = 'ambiguous' ORDER BY e.effect_no LIMIT ${LISTED}`,
    channelId,
  );
  return {
    code: "channelStatus",
    channel: channelId,
    waiting: waitingIn(tx, channelId, place),
    queued: count?.queued ?? 0,
    doubtful: doubtful.map((effect) => ({ id: effect.shortId, title: titleOf(tx, effect), at: effect.createdAt })),
  };
}

const USAGE = /^(confirm|retry)$/;

/** Only messages of this channel: an operator of one chat settles nothing of another service or of a workflow's actions. */
function recover(
  tx: Tx,
  [given = "", action = "", ...more]: readonly string[],
  actorId: string,
  channel: ChannelRow,
): ReplyCode {
  const refused = (reason: Extract<ReplyCode, { code: "recoverRefused" }>["reason"]): ReplyCode => ({
    code: "recoverRefused",
    given: wellFormed(given.slice(0, 64)),
    reason,
  });
  if (given === "" || !USAGE.test(action) || more.length > 0) return refused("usage");
  const found = find(tx, given);
  if (typeof found === "string") return refused(found);
  if (found.channelId !== channel.channelId) return refused("unknown");
  const decided =
    found.decisionNo !== null &&
    tx.get("SELECT 1 FROM human_decision_resolutions WHERE decision_no = ?", found.decisionNo) !== undefined;
  const wanted = action as "confirm" | "retry";
  try {
    recoverMessage(tx, found, {
      action: wanted,
      part: null,
      reference: null,
      actor: { type: "human", id: `${channel.channelId}:${actorId}` },
    });
  } catch (error) {
    // The state is checked before anything is written, so that this refusal leaves nothing behind.
    if (!isHoldpointError(error) || error.kind !== "effectState") throw error;
    return refused(wanted === "retry" && found.status === "ambiguous" && decided ? "decided" : "notInDoubt");
  }
  return { code: "recovered", id: found.shortId, action: wanted, title: titleOf(tx, found) };
}

function find(tx: Tx, given: string): EffectRow | "unknown" | "severalFit" {
  try {
    return effectByRef(tx, given);
  } catch (error) {
    if (isHoldpointError(error) && error.kind === "effectNotFound") return "unknown";
    if (isHoldpointError(error) && error.kind === "ambiguousId") return "severalFit";
    throw error;
  }
}

function titleOf(tx: Tx, effect: EffectRow): string {
  const row =
    effect.decisionNo === null
      ? undefined
      : tx.get<{ title: string }>("SELECT title FROM human_decisions WHERE decision_no = ?", effect.decisionNo);
  return row?.title ?? effect.effectType;
}
