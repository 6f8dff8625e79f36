/**
 * A tap whose verdict came after its acknowledgement had to be given: the person was told "received, checking", and gets the verdict as a
 * reply to the card.
 */
import type { ReplyCode } from "../../contracts/decision/codes.ts";
import { defineCommand } from "../command.ts";
import type { Access } from "../decisions/access.ts";
import type { Tx } from "../tx.ts";
import { isReachable } from "./places.ts";
import { queueReply } from "./replies.ts";
import { spokenFor } from "./rows.ts";

export interface LateInput {
  readonly channelId: string;
  readonly adapterEpoch: string;
  readonly updateId: number;
  readonly place: string;
  readonly topic: string | null;
  /** The card that was tapped. */
  readonly reference: string | null;
  readonly access: Access;
}

/** `told` is false when there is nothing to say: no verdict for a person, or a message of its own that says it (a question for text). */
export const tellLate = defineCommand("channels.tellLate", (tx: Tx, input: LateInput): { told: boolean } => {
  const { access, adapterEpoch, channelId, place, reference, topic, updateId } = input;
  const channel = spokenFor(tx, channelId, adapterEpoch);
  const row = tx.get<{ ack: string | null }>(
    "SELECT ack FROM channel_inbox WHERE channel_id = ? AND channel_epoch = ? AND update_id = ?",
    channelId,
    channel.channelEpoch,
    updateId,
  );
  if (row?.ack == null || !isReachable(tx, access, channelId, place)) return { told: false };
  const reply = tx.unpack(row.ack) as unknown as ReplyCode;
  if (reply.code === "promptSent") return { told: false };
  queueReply(tx, { channel, updateId, place, topic, timeZone: access.timeZone }, { reply, to: reference });
  return { told: true };
});
