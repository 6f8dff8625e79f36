/**
 * Performs one part of an attempt with one call, and says what Telegram's answer means for the message and its place.
 * The call is never repeated here.
 */
import { HoldpointError, toErrorRecord, type ErrorKind, type ErrorRecord } from "../../src/contracts/errors.ts";
import { ADAPTER, DELIVERY } from "../../src/contracts/limits.ts";
import type { Perform } from "../../src/contracts/protocol/channel.ts";
import type { SendResult } from "../channel/transport.ts";
import { isObject, type BotClient, type CallResult } from "./call.ts";
import { documentArguments, messageArguments, type Arguments } from "./message.ts";

type Refusal = Exclude<CallResult<unknown>, { outcome: "accepted" }>;
type Rejection = Extract<Refusal, { outcome: "rejected" }>;

/** Chat and message of a reference `<chat>:<message>`. */
interface MessageKey {
  readonly chat: string;
  readonly message: number;
}

/** Posts need a client that never uses a connection twice; everything else can be repeated. */
export interface SendClients {
  readonly poster: BotClient;
  readonly caller: BotClient;
}

/** Performs part `part` of `perform`. Never throws for what Telegram says; what cannot even be built is `rejected`. */
export async function sendPart(clients: SendClients, perform: Perform, part: number): Promise<SendResult> {
  let call: () => Promise<SendResult>;
  try {
    call = prepare(clients, perform, part);
  } catch (error) {
    return { outcome: "rejected", error: toErrorRecord(error) };
  }
  return call();
}

/** Builds the whole request; the returned function sends it. */
function prepare(clients: SendClients, perform: Perform, part: number): () => Promise<SendResult> {
  if (perform.op === "post" || perform.op === "document") {
    const { chat, topic } = targetOf(perform.destination);
    const target = {
      chat_id: chat,
      ...threadOf(topic),
      ...replyOf(perform, part),
      ...(perform.protect === true ? { protect_content: true } : {}),
      ...(perform.silent === true ? { disable_notification: true } : {}),
    };
    if (perform.op === "document") {
      const payload = { ...documentArguments(perform), ...target };
      return () => post(clients, "sendDocument", { chat, topic }, payload);
    }
    const payload = { ...messageArguments(perform, part), ...target };
    return () => post(clients, "sendMessage", { chat, topic }, payload);
  }
  const key = keyOf(perform.reference);
  if (perform.op === "delete") return () => remove(clients.caller, key);
  const payload = { ...messageArguments(perform, part), chat_id: key.chat, message_id: key.message };
  return () => edit(clients.caller, key, payload);
}

async function post(
  { caller, poster }: SendClients,
  method: "sendMessage" | "sendDocument",
  { chat, topic }: { readonly chat: string; readonly topic: string | null },
  payload: Arguments,
): Promise<SendResult> {
  const sent = await poster.call(method, payload, messageOf);
  if (sent.outcome !== "accepted") return refusal(sent);
  const { id, chat: seenChat, topic: seenTopic } = sent.result;
  const reference = `${seenChat}:${id}`;
  if (seenChat === chat && (topic === null || seenTopic === topic)) return { outcome: "accepted", reference };
  // A topic that is gone can let a message fall into the main chat, before more eyes than were allowed.
  const removed = await caller.call("deleteMessage", { chat_id: seenChat, message_id: id }, isTrue);
  const where = `chat ${seenChat}${seenTopic === null ? "" : `, topic ${seenTopic}`}`;
  const wanted = `chat ${chat}${topic === null ? "" : `, topic ${topic}`}`;
  return removed.outcome === "accepted"
    ? problem(
        "rejected",
        "channelRefused",
        `Telegram put the message into ${where} instead of ${wanted}; it was removed.`,
      )
    : problem(
        "ambiguous",
        "channelUnconfirmed",
        `Telegram put the message (${reference}) into ${where} instead of ${wanted}, and it could not be removed.`,
      );
}

async function edit(client: BotClient, key: MessageKey, payload: Arguments): Promise<SendResult> {
  const edited = await client.call("editMessageText", payload, (result) =>
    messageOf(result)?.id === key.message ? true : undefined,
  );
  if (edited.outcome === "accepted") return { outcome: "accepted" };
  if (edited.outcome === "rejected") {
    // It shows this content already: also the proof that an earlier, unconfirmed edit took effect.
    if (/message is not modified/i.test(edited.description)) return { outcome: "accepted" };
    if (/message to edit not found|message can't be edited|message_id_invalid/i.test(edited.description)) {
      return { ...refusal(edited), gone: true };
    }
  }
  return refusal(edited);
}

async function remove(client: BotClient, { chat, message }: MessageKey): Promise<SendResult> {
  const removed = await client.call("deleteMessage", { chat_id: chat, message_id: message }, isTrue);
  if (removed.outcome === "accepted") return { outcome: "accepted" };
  if (removed.outcome === "rejected" && /message to delete not found/i.test(removed.description)) {
    return { outcome: "accepted", gone: true };
  }
  return refusal(removed);
}

/** What a call that was not accepted means for the attempt. */
function refusal(result: Refusal): SendResult {
  if (result.outcome === "rejected") return rejection(result);
  return result.outcome === "notSent"
    ? problem("notSent", "channelUnreachable", `Telegram cannot be reached: ${result.reason}`)
    : problem("ambiguous", "channelUnconfirmed", `Telegram did not confirm: ${result.reason}`);
}

function rejection({ code, description, parameters }: Rejection): SendResult {
  const details = { code, description };
  const { migrateToChatId, retryAfterS } = parameters;
  if (code === 429) {
    const retryAfterMs = retryAfterS === undefined ? DELIVERY.backoffMinMs : Math.ceil(retryAfterS * 1_000);
    const message = `Telegram asks to wait ${Math.ceil(retryAfterMs / 1_000)} s before the next message.`;
    return { ...problem("rejected", "channelRefused", message, details), retryAfterMs };
  }
  if (code === 401 || (code === 404 && description === "Not Found")) {
    // Nothing is wrong with the message: it goes out when the token file holds a good token again.
    const refused = problem(
      "rejected",
      "tokenRefused",
      `Telegram does not accept the bot token (${description}).`,
      details,
    );
    return { ...refused, retryAfterMs: ADAPTER.secretAgainMs };
  }
  const refused = problem(
    "rejected",
    "channelRefused",
    `Telegram refused the message (${code}: ${description}).`,
    details,
  );
  if (/can't parse entities|ENTIT(Y|IES)_/i.test(description)) return { ...refused, unparsed: true };
  if (migrateToChatId !== undefined) return { ...refused, movedTo: migrateToChatId };
  if (code === 403 || /chat not found|user is deactivated/i.test(description)) return { ...refused, placeDead: true };
  return refused;
}

function problem(
  outcome: SendResult["outcome"],
  kind: ErrorKind,
  message: string,
  details?: Record<string, unknown>,
): SendResult {
  const error: ErrorRecord = new HoldpointError(kind, message, details === undefined ? {} : { details }).toRecord();
  return { outcome, error };
}

/** Id, chat and topic of a Message, or undefined when it is none. General has no topic. */
function messageOf(value: unknown): { id: number; chat: string; topic: string | null } | undefined {
  if (!isObject(value) || !isObject(value["chat"])) return undefined;
  const { message_id: id, message_thread_id: thread, is_topic_message: inTopic } = value;
  const chat = value["chat"]["id"];
  if (typeof id !== "number" || !Number.isSafeInteger(id) || id <= 0 || typeof chat !== "number") return undefined;
  return { id, chat: String(chat), topic: inTopic === true && typeof thread === "number" ? String(thread) : null };
}

function isTrue(value: unknown): true | undefined {
  return value === true ? true : undefined;
}

function targetOf(destination: string): { chat: string; topic: string | null } {
  const [, chat, topic] = destination.split("/");
  if (chat === undefined || !/^-?\d+$/.test(chat)) {
    throw new HoldpointError("protocolRejected", `Destination "${destination}" names no Telegram chat.`);
  }
  // General is addressed by leaving the topic out; its number 1 is refused by Telegram.
  return { chat, topic: topic === undefined || topic === "1" ? null : topic };
}

function threadOf(topic: string | null): Arguments {
  return topic === null ? {} : { message_thread_id: Number(topic) };
}

/** Only the first part answers the message; in another chat there is nothing to answer. */
function replyOf({ destination, replyTo }: Perform, part: number): Arguments {
  if (replyTo === null || part !== 1) return {};
  const { chat, message } = keyOf(replyTo);
  if (chat !== targetOf(destination).chat) return {};
  return { reply_parameters: { message_id: message, allow_sending_without_reply: true } };
}

function keyOf(reference: string | null): MessageKey {
  const match = /^(-?\d+):(\d+)$/.exec(reference ?? "");
  if (!match) throw new HoldpointError("protocolRejected", `Reference "${reference}" names no Telegram message.`);
  return { chat: match[1] ?? "", message: Number(match[2]) };
}
