/**
 * Who is heard at all, before anything is looked up: the place must be allowed, then the account. Nothing is sent to a place that is not
 * allowed, whoever writes from it.
 */
import type { Inbound, Trait } from "../../contracts/protocol/channel.ts";
import { isUserAllowed, type Access } from "../decisions/access.ts";
import { reopen } from "../effects/reopen.ts";
import type { Tx } from "../tx.ts";
import { isReachable, revive } from "./places.ts";
import type { ChannelRow } from "./rows.ts";

export type Spoken = Extract<Inbound, { kind: "answer" | "message" | "command" }>;

/** Chats that only look like ours (their ids may equal one of ours), and senders that are no persons. */
const NEVER: readonly Trait[] = ["business", "guest", "channelPost", "bot", "inline"];

/**
 * `silent`: no reaction at all. `notOnList`: the place is allowed, the account is not. `ok`: go on. Whoever writes, a chat from which
 * something comes can be reached again.
 */
export function authorize(tx: Tx, access: Access, channel: ChannelRow, inbound: Spoken): "ok" | "silent" | "notOnList" {
  const { channelId, placeDead } = channel;
  if (inbound.place === null || inbound.traits.some((trait) => NEVER.includes(trait))) return "silent";
  if (!isReachable(tx, access, channelId, inbound.place)) return "silent";
  if (placeDead !== 0 && revive(tx, channelId, inbound.place)) reopen(tx, channelId, inbound.place);
  return isUserAllowed(access, channelId, inbound.sender.id) ? "ok" : "notOnList";
}
