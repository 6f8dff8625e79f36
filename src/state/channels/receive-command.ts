/**
 * Commands in a chat: the operator's, and the older `/workflow-channel status` and `recover <id> confirm|retry`. One that there is not
 * is told so; in a group, where it may have been meant for another bot, sparingly.
 */
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import { CHANNEL_COMMAND } from "../../contracts/decision/operator-codes.ts";
import { isHoldpointError } from "../../contracts/errors.ts";
import { DELIVERY } from "../../contracts/limits.ts";
import type { Inbound } from "../../contracts/protocol/channel.ts";
import type { Access } from "../decisions/access.ts";
import { effectByRef } from "../effects/find.ts";
import { recoverMessage, titleOf } from "../effects/operator.ts";
import { EFFECT_COLUMNS, type EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { authorize } from "./authorize.ts";
import type { Handled } from "./receive.ts";
import { waitingIn } from "./receive-text.ts";
import { answerCommand, unknownCommand } from "./operator/index.ts";
import { askerOf } from "./operator/asker.ts";
import { queueReply, type Origin } from "./replies.ts";
import { takeHelpTurn, type ChannelRow } from "./rows.ts";
import type { ServiceFacts } from "./service-facts.ts";
import { wellFormed } from "../decisions/well-formed.ts";

export type ChatCommand = Extract<Inbound, { kind: "command" }>;

/** Messages in doubt that one status lists. */
const LISTED = 10;

export function receiveCommand(
  tx: Tx,
  channel: ChannelRow,
  command: ChatCommand,
  access: Access,
  service: ServiceFacts | undefined,
): Handled {
  const admitted = authorize(tx, access, channel, command);
  if (admitted !== "ok") return { verdict: admitted, ack: null };
  if (command.traits.length > 0) return { verdict: "ignored", ack: null };
  const origin: Origin = {
    channel,
    updateId: command.updateId,
    place: command.place,
    topic: command.topic,
    timeZone: access.timeZone,
  };
  const name = command.command.toLowerCase().replaceAll("_", "-");
  const asker = askerOf(tx, access, origin, command.sender, command.reference);
  const known =
    name === CHANNEL_COMMAND
      ? { reply: channelCommand(tx, origin, command) }
      : answerCommand(asker, name, command.args, service);
  const direct = command.place === command.sender.id;
  if (known === undefined && !direct && !takeHelpTurn(tx, channel.channelId, command.place, DELIVERY.helpEveryMs))
    return { verdict: "ignored", ack: null };
  const { stop, ...answer } = known ?? unknownCommand(command.command);
  queueReply(tx, origin, { ...answer, to: command.reference });
  return { verdict: answer.reply.code, ack: null, ...(stop === undefined ? {} : { stop }) };
}

function channelCommand(tx: Tx, origin: Origin, { args, sender }: ChatCommand): ReplyCode {
  const [word = "", ...rest] = args.trim().split(/\s+/);
  if (word === "status") return status(tx, origin);
  if (word === "recover") return recover(tx, rest, sender.id, origin.channel);
  return { code: "help", waiting: waitingIn(tx, origin.channel.channelId, origin.place) };
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
