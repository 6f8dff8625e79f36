/** What a set-up says while it waits for the phone. */
import type { FromSetup, PairedPlace, PairingNotice } from "../../contracts/protocol/setup.ts";

type Connected = Extract<FromSetup, { type: "connected" }>;
type Noticed = Extract<FromSetup, { type: "noticed" }>;

/** How to send the code; `shown` is the code with its hyphen, `code` without. */
export function howToPair({ account, joinsGroups, readsGroups }: Connected, shown: string, code: string): string[] {
  const { name, username } = account;
  const lines = [`The token belongs to ${username === null ? name : `@${username}`}.`, ""];
  lines.push(`On your phone, send this code to the bot: ${shown}`);
  if (username !== null) lines.push(`or open https://t.me/${username}?start=${code}`);
  lines.push("To have the cards in a group, send it there instead, in the topic where they should appear.");
  if (!joinsGroups) lines.push("(This bot may not join groups: @BotFather, /setjoingroups.)");
  else if (username !== null && !readsGroups) {
    lines.push(`The bot does not see plain messages in groups (privacy mode); write there: /start@${username} ${code}`);
  }
  return [...lines, "", "Waiting for the code …"];
}

const WHY: Readonly<Record<PairingNotice, string>> = {
  wrongCode: "sent another code. Send the one above",
  otherText: "wrote something else. Send only the code",
  forwarded: "forwarded the code. Type it, or paste it as a message of your own",
  edited: "edited a message into the code. Send it as a new message",
  anonymous: "wrote anonymously or for a channel. Turn that off for you in the group, and send it again",
  bot: "is a bot. A person has to send the code",
  channelPost: "posted it in a channel, where nobody can be recognised. Use a private chat or a group",
  otherRoute: "sent it by a route on which nobody can be recognised. Write to the bot itself, or in a group",
  unreachable: "Telegram cannot be reached at present; trying again",
};

/** One line about something that did not pair. Names are text from outside. */
export function noticeLine({ detail, notice, place, sender }: Noticed): string {
  if (notice === "unreachable") return detail ?? WHY.unreachable;
  const who = sender === null ? "Somebody" : `${sender.name ?? "Somebody"} (${sender.id})`;
  const where = place === null || place === sender?.id ? "" : ` in chat ${place}`;
  return `${who}${where} ${WHY[notice]}.`;
}

/** A place in words. */
export function placeLine({ id, kind, title, topic }: PairedPlace, person: string | null): string {
  if (kind === "private") return `private chat with ${person ?? "that person"} (${id})`;
  return `${kind} "${title ?? "without a title"}" (${id})${topic === null ? "" : `, topic ${topic}`}`;
}
