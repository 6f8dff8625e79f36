/**
 * Examines one bot: token, network, who else receives its messages, the clock, the chats. It sends nothing to a chat and confirms no
 * update.
 */
import { isHoldpointError } from "../../../src/contracts/errors.ts";
import { SETUP } from "../../../src/contracts/limits.ts";
import type { FromDoctor, ToDoctor } from "../../../src/contracts/protocol/doctor.ts";
import { readSecret } from "../../channel/secret.ts";
import { BotClient, isObject, type CallResult } from "../call.ts";
import { botOf } from "../connect.ts";
import { pollProblem } from "../poll.ts";
import { parseSettings, type TelegramSettings } from "../settings.ts";

export type Finding = Omit<Extract<FromDoctor, { type: "finding" }>, "type">;
type Report = (finding: Finding) => void;

/** Reports what it finds, one by one. Never throws. */
export async function examine(request: ToDoctor, report: Report): Promise<void> {
  const { channel, places, tokenFile } = request;
  let client: BotClient | null = null;
  try {
    const settings = parseSettings(request.settings);
    client = new BotClient(readSecret(tokenFile), {
      apiRoot: settings.apiRoot,
      timeoutMs: settings.sendTimeoutMs,
      reuse: true,
    });
    if (!(await examineBot(client, channel, settings, report))) return;
    examineClock(client, report);
    await examineUpdates(client, channel, settings, request.mayPoll, report);
    for (const place of places) await examineChat(client, channel, place, report);
  } catch (error) {
    const remedy = isHoldpointError(error) ? error.remedy : "Report it with this message.";
    report({
      name: "Bot",
      state: "wrong",
      found: `${channel}: ${error instanceof Error ? error.message : "failed"}`,
      remedy,
    });
  } finally {
    client?.close();
  }
}

/** Token and network in one: getMe. */
async function examineBot(
  client: BotClient,
  channel: string,
  settings: TelegramSettings,
  report: Report,
): Promise<boolean> {
  const me = await client.call("getMe", {}, (value) => {
    const bot = botOf(value);
    return bot === undefined || !isObject(value) ? undefined : { ...bot, value };
  });
  if (me.outcome !== "accepted") {
    const { message, remedy } = pollProblem(me, settings);
    report({ name: "Bot", state: "wrong", found: `${channel}: ${message}`, remedy });
    return false;
  }
  const { id, name, username, value } = me.result;
  const privacy = value["can_read_all_group_messages"] === true ? "off" : "on";
  const called = username === null ? name : `@${username}`;
  report({
    name: "Bot",
    state: "ok",
    found: `${channel} is ${called} (id ${id}), privacy mode ${privacy}`,
    remedy: null,
  });
  return true;
}

/** Deadlines are decided by this machine's clock and shown on phones, which go by the world's. */
function examineClock(client: BotClient, report: Report): void {
  const { serviceTime } = client;
  if (serviceTime === null) {
    report({ name: "Clock", state: "note", found: "the service does not say what time it is", remedy: null });
    return;
  }
  const skewMs = serviceTime.seenAt - serviceTime.at;
  const by = `${Math.abs(skewMs / 1_000).toFixed(0)} s ${skewMs > 0 ? "ahead of" : "behind"} Telegram's`;
  if (Math.abs(skewMs) <= SETUP.clockSkewMs)
    return report({ name: "Clock", state: "ok", found: "agrees with Telegram's", remedy: null });
  report({
    name: "Clock",
    state: "wrong",
    found: `this machine's clock is ${by}: deadlines come at the wrong time`,
    remedy: "Switch on time synchronization (`timedatectl set-ntp true`, or your system's way).",
  });
}

async function examineUpdates(
  client: BotClient,
  channel: string,
  settings: TelegramSettings,
  mayPoll: boolean,
  report: Report,
): Promise<void> {
  const told = (state: Finding["state"], found: string, remedy: string | null = null): void =>
    report({ name: "Updates", state, found: `${channel}: ${found}`, remedy });
  const info = await client.call("getWebhookInfo", {}, (value) => (isObject(value) ? value : undefined));
  if (info.outcome !== "accepted") return told("wrong", ...problemOf(info, settings));
  const { pending_update_count: pending, url } = info.result;
  if (typeof url === "string" && url !== "") {
    return told(
      "wrong",
      "a webhook is set for this bot, so its updates go elsewhere and taps do not arrive here",
      "Remove the webhook (deleteWebhook), or give this service a bot of its own.",
    );
  }
  const waiting = typeof pending === "number" ? `${pending} waiting` : "an unknown number waiting";
  if (!mayPoll) return told("ok", `${waiting}; the server receives them`);
  // Without an offset nothing is confirmed. It is held for a while: who else polls comes back within seconds and ends it with 409.
  const poll = await client.call("getUpdates", { limit: 1, timeout: SETUP.pollerSeconds }, (value) =>
    Array.isArray(value) ? value.length : undefined,
  );
  if (poll.outcome !== "accepted") return told("wrong", ...problemOf(poll, settings));
  told("ok", poll.result > 0 ? `${waiting} for the server` : `none waiting, and nobody else receives them`);
}

async function examineChat(client: BotClient, channel: string, place: string, report: Report): Promise<void> {
  const told = (state: Finding["state"], found: string, remedy: string | null = null): void =>
    report({ name: "Chat", state, found: `${channel}/${place}: ${found}`, remedy });
  const chat = await client.call("getChat", { chat_id: place }, (value) => (isObject(value) ? value : undefined));
  if (chat.outcome === "accepted") {
    const { permissions, title, type } = chat.result;
    const moved = await movedTo(client, place, type);
    if (moved !== null) {
      return told(
        "wrong",
        `this group became a supergroup; its id is ${moved} now`,
        `Replace ${place} by ${moved} in config.json (allowedChatIds and destinations), then \`holdpoint server reload\`.`,
      );
    }
    const what = typeof title === "string" ? `${String(type)} "${title}"` : String(type);
    if (isObject(permissions) && permissions["can_send_messages"] === false)
      return told("note", `${what}; members may not write there, so the bot has to be an admin`);
    return told("ok", what);
  }
  if (chat.outcome !== "rejected") return told("note", `not known: ${chat.reason}`);
  const { code, description } = chat;
  if (/chat not found/i.test(description)) {
    return told(
      "wrong",
      "the bot does not know this chat",
      "A person has to write to the bot once (/start); into a group it has to be invited. Then check the id.",
    );
  }
  told(
    code === 429 ? "note" : "wrong",
    `${description} (${code})`,
    code === 429 ? null : "Let the bot in again, or take the chat out of config.json.",
  );
}

/** Typing is the one thing that tells a group that moved, and shows nobody anything that stays. */
async function movedTo(client: BotClient, place: string, type: unknown): Promise<string | null> {
  if (type !== "group") return null;
  const typing = await client.call("sendChatAction", { chat_id: place, action: "typing" }, (value) =>
    value === true ? true : undefined,
  );
  return typing.outcome === "rejected" ? (typing.parameters.migrateToChatId ?? null) : null;
}

function problemOf(
  result: Exclude<CallResult<unknown>, { outcome: "accepted" }>,
  settings: TelegramSettings,
): [string, string] {
  const { message, remedy } = pollProblem(result, settings);
  return [message, remedy];
}
