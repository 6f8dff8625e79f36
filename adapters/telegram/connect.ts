/** Connects a bot: its clients, getMe, the registration of commands. */
import type { ChannelLaunch } from "../../src/contracts/protocol/channel.ts";
import { HoldpointError } from "../../src/contracts/errors.ts";
import { wordsIn } from "../../renderers/telegram/index.ts";
import { CHANNEL_COMMAND } from "../../src/contracts/decision/operator-codes.ts";
import type { Ack, ChannelEvents, Tap, Transport } from "../channel/transport.ts";
import { BotClient, isObject } from "./call.ts";
import { registeredName, type Self } from "./inbound.ts";
import { partCount } from "./message.ts";
import { Poller, pollProblem } from "./poll.ts";
import { sendPart } from "./send.ts";
import { parseSettings } from "./settings.ts";

/** Connects the bot of `token`. Throws `ChannelProblem` when Telegram cannot be reached or refuses the token. */
export async function connectTelegram(
  launch: ChannelLaunch,
  token: string | null,
  events: ChannelEvents,
): Promise<Transport> {
  const settings = parseSettings(launch.settings);
  if (token === null) throw new HoldpointError("configInvalid", "A Telegram channel needs a token file.");
  const { apiRoot, pollTimeoutMs, sendTimeoutMs } = settings;
  const clients = {
    /** sendMessage, the one call that must not be repeated. */
    poster: new BotClient(token, { apiRoot, timeoutMs: sendTimeoutMs, reuse: false }),
    caller: new BotClient(token, { apiRoot, timeoutMs: sendTimeoutMs, reuse: true }),
    /** Nothing waits behind a held poll. */
    receiver: new BotClient(token, { apiRoot, timeoutMs: pollTimeoutMs, reuse: true }),
  };
  const { caller, poster, receiver } = clients;
  const close = (): void => {
    for (const client of Object.values(clients)) client.close();
  };
  const me = await caller.call("getMe", {}, botOf, events.closing);
  if (me.outcome !== "accepted") {
    close();
    throw pollProblem(me, settings);
  }
  const known = [...launch.commands, CHANNEL_COMMAND];
  const commands = new Map(known.map((command) => [registeredName(command), command]));
  const self: Self = { ...me.result, commands };
  const poller = new Poller(receiver, self, settings);
  void registerCommands(caller, launch, events);
  return {
    account: { id: self.id, name: self.username === null ? me.result.name : `@${self.username}` },
    parts: partCount,
    send: (perform, part) => sendPart({ poster, caller }, perform, part),
    poll: (after, signal) => poller.poll(after, signal),
    waiting: () => waiting(caller),
    acknowledge: (tap, ack) => acknowledge(caller, tap, ack, events),
    close,
  };
}

/** `pending_update_count`; a service that does not answer says nothing. */
async function waiting(client: BotClient): Promise<number | null> {
  const info = await client.call("getWebhookInfo", {}, (value) => {
    const count = isObject(value) ? value["pending_update_count"] : undefined;
    return typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
  });
  return info.outcome === "accepted" ? info.result : null;
}

/** Answers the callback query. Repeating it is harmless, so it is tried twice; after that only the toast is lost. */
async function acknowledge(
  client: BotClient,
  tap: Tap,
  { code, ...reader }: Ack,
  events: ChannelEvents,
): Promise<void> {
  const text = wordsIn(reader.language).ackText(code, { ...reader, reference: Date.now(), nameZone: true });
  const answer = { callback_query_id: tap.eventId, text };
  for (let attempt = 1; attempt <= 2; attempt += 1) {
    const result = await client.call("answerCallbackQuery", answer, (value) => (value === true ? true : undefined));
    if (result.outcome === "accepted") return;
    if (result.outcome === "rejected") {
      // A tap that waited too long (the service was down): the card itself tells what became of it.
      if (!/query is too old/i.test(result.description)) {
        events.note(`toast for update ${tap.updateId} refused: ${result.code} ${result.description}`);
      }
      return;
    }
    events.note(`toast for update ${tap.updateId} not confirmed: ${result.reason}`);
  }
}

/** Registers the commands in each place that may use them. A chat that is not open yet does without. */
async function registerCommands(client: BotClient, launch: ChannelLaunch, events: ChannelEvents): Promise<void> {
  if (launch.commands.length === 0) return;
  for (const place of launch.places) {
    if (events.closing.aborted) return;
    const { commandDescription } = wordsIn(launch.languages?.[place]);
    const commands = launch.commands.map((command) => ({
      command: registeredName(command),
      description: commandDescription(command),
    }));
    const scope = { type: "chat", chat_id: place };
    const result = await client.call("setMyCommands", { commands, scope }, (value) =>
      value === true ? true : undefined,
    );
    if (result.outcome === "rejected")
      events.note(`commands for chat ${place} refused: ${result.code} ${result.description}`);
    else if (result.outcome !== "accepted") events.note(`commands for chat ${place}: ${result.reason}`);
  }
}

/** Id, name without "@" and first name of a getMe result, or undefined when it is none. */
export function botOf(value: unknown): { id: string; username: string | null; name: string } | undefined {
  if (!isObject(value)) return undefined;
  const { id, username, first_name: name } = value;
  if (typeof id !== "number" || !Number.isSafeInteger(id)) return undefined;
  return {
    id: String(id),
    username: typeof username === "string" && username !== "" ? username : null,
    name: typeof name === "string" && name !== "" ? name : String(id),
  };
}
