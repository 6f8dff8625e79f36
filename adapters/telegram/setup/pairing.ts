/**
 * Whether one update pairs: a person's own message, written now, that holds the code. Everything else says why it does not.
 * Who paired and where is learned from this message alone, so it has to be beyond doubt: a forwarded code proves only that
 * somebody else wrote it.
 */
import type { FromSetup, PairedPlace, PairingNotice } from "../../../src/contracts/protocol/setup.ts";
import { isPairingCode, pairingCodeIn } from "../../../src/contracts/pairing-code.ts";
import type { Trait } from "../../../src/contracts/protocol/channel.ts";
import { isObject } from "../call.ts";
import { inboundOf, type Self } from "../inbound.ts";

type Paired = Omit<Extract<FromSetup, { type: "paired" }>, "type">;
type Noticed = Omit<Extract<FromSetup, { type: "noticed" }>, "type">;

export type PairingVerdict =
  | ({ readonly kind: "paired" } & Paired)
  | ({ readonly kind: "noticed" } & Noticed)
  /** A group became a supergroup. */
  | { readonly kind: "moved"; readonly from: string; readonly to: string }
  /** Nothing that anybody meant for us. */
  | { readonly kind: "nothing" };

/** What else a message is, in the order in which it is told. */
const UNFIT: readonly (readonly [Trait, PairingNotice])[] = [
  ["forwarded", "forwarded"],
  ["channelPost", "channelPost"],
  ["anonymous", "anonymous"],
  ["edited", "edited"],
  ["bot", "bot"],
  ["business", "otherRoute"],
  ["guest", "otherRoute"],
  ["inline", "otherRoute"],
];

/** Judges an update with the id `updateId` against the code. Never throws. */
export function judgePairing(
  update: unknown,
  updateId: number,
  code: string,
  bot: Omit<Self, "commands">,
): PairingVerdict {
  const message = messageOf(update);
  const moved = movedOf(message);
  if (moved !== null) return moved;
  // `/start <code>` is what a t.me link sends, also in a group whose messages the bot does not see.
  const inbound = inboundOf(update, updateId, { ...bot, commands: new Map([["start", "start"]]) });
  if (inbound.kind !== "message" && inbound.kind !== "command") return { kind: "nothing" };
  const text = inbound.kind === "message" ? inbound.text : inbound.args;
  const given = pairingCodeIn(text, bot.username);
  const notice = (why: PairingNotice): PairingVerdict => ({
    kind: "noticed",
    notice: why,
    sender: inbound.sender,
    place: inbound.place,
    detail: null,
  });
  if (given === null) {
    // A bare /start is the first thing that everybody sends; the next message will be the code.
    return inbound.kind === "command" ? { kind: "nothing" } : notice("otherText");
  }
  const unfit = UNFIT.find(([trait]) => inbound.traits.includes(trait));
  if (unfit !== undefined) return notice(unfit[1]);
  if (!isPairingCode(given, code)) return notice("wrongCode");
  const chat = message === null ? null : message["chat"];
  const place = isObject(chat) ? placeOf(chat, inbound.place, inbound.topic) : null;
  return place === null ? notice("otherRoute") : { kind: "paired", place, sender: inbound.sender };
}

function messageOf(update: unknown): Record<string, unknown> | null {
  const message = isObject(update) ? update["message"] : null;
  return isObject(message) ? message : null;
}

function movedOf(message: Record<string, unknown> | null): PairingVerdict | null {
  const to = message?.["migrate_to_chat_id"];
  const chat = message?.["chat"];
  if (typeof to !== "number" || !isObject(chat) || typeof chat["id"] !== "number") return null;
  return { kind: "moved", from: String(chat["id"]), to: String(to) };
}

function placeOf(chat: Record<string, unknown>, id: string, topic: string | null): PairedPlace | null {
  const { title, type } = chat;
  if (type !== "private" && type !== "group" && type !== "supergroup") return null;
  return { id, kind: type, title: typeof title === "string" ? title.slice(0, 200) : null, topic };
}
