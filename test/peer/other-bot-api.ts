/**
 * A second, independently written peer for the Telegram adapter: the server classes of `@bonkers-agency/grammy-test` behind HTTP on the
 * loopback. What it knows of chats, messages, callback queries and limits was written by somebody else; the adapter's own transport runs
 * against it unchanged. It knows less than the stand-in (no 409, no topics, edits keep buttons), so only happy paths are run here.
 */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { TelegramServer, UpdateQueue } from "@bonkers-agency/grammy-test";

import { readArguments } from "../../adapters/telegram/sim/arguments.ts";

type User = Parameters<TelegramServer["simulateUserMessage"]>[0];
type Chat = Parameters<TelegramServer["simulateUserMessage"]>[1];
export type PeerMessage = NonNullable<ReturnType<TelegramServer["getMessage"]>>;

const BOT = { id: 777_001, is_bot: true, first_name: "Holdpoint", username: "holdpoint_peer_bot" };

export class OtherBotApi {
  readonly token = `${BOT.id}:an-independent-peer-of-the-adapter`;
  readonly ann: User = { id: 1001, is_bot: false, first_name: "Ann" };
  readonly chat: Chat = { id: 1001, type: "private", first_name: "Ann" };
  /** Methods that were called, in order, without the polls. */
  readonly calls: string[] = [];
  /** Contents of documents by the id of their message; the peer itself keeps no contents. */
  readonly files = new Map<number, { name: string; text: string }>();
  readonly #telegram = new TelegramServer(BOT as never);
  readonly #updates = new UpdateQueue();
  readonly #http: Server;
  #waiting: (() => void)[] = [];

  private constructor() {
    // A person who has written to the bot has a chat with it.
    this.#telegram.simulateUserMessage(this.ann, this.chat, "/start");
    this.#http = createServer((request, response) => {
      const answer = async (): Promise<void> => {
        const { body, status } = await this.#answer(request);
        response.writeHead(status, { "content-type": "application/json" });
        response.end(JSON.stringify(body));
      };
      void answer();
    });
  }

  static async open(): Promise<OtherBotApi> {
    const peer = new OtherBotApi();
    await new Promise<void>((resolve) => peer.#http.listen(0, "127.0.0.1", resolve));
    return peer;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#updates.abort();
    this.#http.closeAllConnections();
    await new Promise((resolve) => this.#http.close(resolve));
  }

  messages(): PeerMessage[] {
    return this.#telegram.getBotMessages(this.chat.id);
  }

  toast(queryId: string): string | undefined {
    return this.#telegram.getCallbackQueryAnswer(queryId)?.answerText;
  }

  /** Resolves when the method has been called. */
  async called(method: string): Promise<void> {
    while (!this.calls.includes(method)) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Ann presses a button. */
  tap(message: PeerMessage, label: string): void {
    const rows = message.reply_markup?.inline_keyboard ?? [];
    const button = rows.flat().find(({ text }) => text === label);
    if (button === undefined || !("callback_data" in button)) throw new Error(`no button ${label}`);
    this.#updates.push(this.#telegram.simulateCallbackQuery(this.ann, this.chat, button.callback_data, message));
  }

  /** Ann writes, as an answer when `replyTo` is given. */
  say(text: string, replyTo?: number): void {
    const options = replyTo === undefined ? {} : { replyToMessageId: replyTo };
    this.#updates.push(this.#telegram.simulateUserMessage(this.ann, this.chat, text, options));
  }

  /** Ann writes `/command args`. */
  command(command: string, args = ""): void {
    this.#updates.push(this.#telegram.simulateUserCommand(this.ann, this.chat, `/${command}`, args));
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const { pathname, searchParams } = new URL(request.url ?? "/", this.url);
    const [, bot, method = ""] = pathname.split("/");
    if (bot !== `bot${this.token}`)
      return { status: 401, body: { ok: false, error_code: 401, description: "Unauthorized" } };
    const { files, values } = await readArguments(request, searchParams);
    try {
      return { status: 200, body: { ok: true, result: await this.#call(method, values, files) } };
    } catch (error) {
      const {
        code = 400,
        description,
        parameters,
      } = error as { code?: number; description?: string; parameters?: object };
      return {
        status: code,
        body: { ok: false, error_code: code, description: description ?? String(error), parameters },
      };
    }
  }

  async #call(
    method: string,
    values: Readonly<Record<string, string>>,
    files: readonly { fileName: string; content: Buffer }[],
  ): Promise<unknown> {
    const payload = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, parsed(name, value)]));
    if (method === "getUpdates") {
      const { limit, offset, timeout } = payload as Record<string, number | undefined>;
      return this.#updates.getUpdates(offset, limit, timeout);
    }
    // The peer knows the older way to answer a message only.
    const reply = payload["reply_parameters"] as { message_id: number } | undefined;
    if (reply !== undefined) payload["reply_to_message_id"] = reply.message_id;
    const [file] = files;
    if (file !== undefined) payload["document"] = file.fileName;
    const result = await this.#telegram.handleApiCall(method, payload);
    this.calls.push(method);
    for (const wake of this.#waiting.splice(0)) wake();
    if (file !== undefined)
      this.files.set((result as PeerMessage).message_id, { name: file.fileName, text: file.content.toString("utf8") });
    return result;
  }
}

const TEXTS = new Set(["text", "caption", "document", "callback_query_id"]);

/** Arguments come as text, in whatever form they were sent; texts that people read and ids of queries are no JSON. */
function parsed(name: string, value: string): unknown {
  if (TEXTS.has(name)) return value;
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
