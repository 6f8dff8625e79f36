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
import { titleOf } from "../effects/operator.ts";
import { settleBySaying } from "../effects/settle-by-saying.ts";
import { EFFECT_COLUMNS, type EffectRow } from "../effects/rows.ts";
import type { Tx } from "../tx.ts";
import { authorize } from "./authorize.ts";
import type { Handled } from "./receive.ts";
import { waitingIn } from "./receive-text.ts";
import { answerCommand, unknownCommand } from "./operator/index.ts";
import { askerOf, type Asker } from "./operator/asker.ts";
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
      ? { reply: channelCommand(asker, command) }
      : answerCommand(asker, name, command.args, service);
  const direct = command.place === command.sender.id;
  if (known === undefined && !direct && !takeHelpTurn(tx, channel.channelId, command.place, DELIVERY.helpEveryMs))
    return { verdict: "ignored", ack: null };
  const { stop, ...answer } = known ?? unknownCommand(command.command);
  queueReply(tx, origin, { ...answer, to: command.reference });
  return { verdict: answer.reply.code, ack: null, ...(stop === undefined ? {} : { stop }) };
}

function channelCommand(asker: Asker, { args }: ChatCommand): ReplyCode {
  const { origin, tx } = asker;
  const [word = "", ...rest] = args.trim().split(/\s+/);
  if (word === "status") return status(tx, origin);
  if (word === "recover") return recover(tx, rest, asker);
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
function recover(tx: Tx, [given = "", action = "", ...more]: readonly string[], by: Asker): ReplyCode {
  const { channel } = by.origin;
  const refused = (reason: Extract<ReplyCode, { code: "recoverRefused" }>["reason"]): ReplyCode => ({
    code: "recoverRefused",
    given: wellFormed(given.slice(0, 64)),
    reason,
  });
  if (given === "" || !USAGE.test(action) || more.length > 0) return refused("usage");
  const found = find(tx, given);
  if (typeof found === "string") return refused(found);
  if (found.channelId !== channel.channelId) return refused("unknown");
  return settleBySaying(tx, found, {
    action: action as "confirm" | "retry",
    actor: by.actor,
    name: by.name ?? null,
    title: titleOf(tx, found),
  });
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
