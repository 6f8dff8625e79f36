/**
 * The set-up of a bot, step by step as the command line asks: connect, wait for the code, send a test message. It keeps nothing
 * and writes no file; the token stays in this process.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { HoldpointError, toErrorRecord } from "../../../src/contracts/errors.ts";
import { SETUP, TELEGRAM } from "../../../src/contracts/limits.ts";
import type { FromSetup, ToSetup } from "../../../src/contracts/protocol/setup.ts";
import { readSecret, redactor, redactRecord } from "../../channel/secret.ts";
import { BotClient, isObject, type CallResult } from "../call.ts";
import { botOf } from "../connect.ts";
import { updateIdOf } from "../inbound.ts";
import { pollProblem } from "../poll.ts";
import { sendPart } from "../send.ts";
import { parseSettings, type TelegramSettings } from "../settings.ts";
import { judgePairing, type PairingVerdict } from "./pairing.ts";

type Connect = Extract<ToSetup, { type: "connect" }>;
type Pair = Extract<ToSetup, { type: "pair" }>;
type Test = Extract<ToSetup, { type: "test" }>;

interface Bot {
  readonly channel: string;
  readonly settings: TelegramSettings;
  readonly id: string;
  readonly username: string | null;
  readonly caller: BotClient;
  readonly poster: BotClient;
  readonly receiver: BotClient;
}

export class SetupSession {
  readonly #send: (frame: FromSetup) => void;
  #bot: Bot | null = null;
  #clean = redactor(null);

  constructor(send: (frame: FromSetup) => void) {
    this.#send = send;
  }

  /** Does what was asked; whatever goes wrong is told as `refused`. */
  async take(frame: ToSetup): Promise<void> {
    try {
      if (frame.type === "connect") await this.#connect(frame);
      else if (frame.type === "pair") await this.#pair(this.#connected(), frame);
      else await this.#test(this.#connected(), frame);
    } catch (error) {
      this.#send({ type: "refused", error: redactRecord(toErrorRecord(error), this.#clean) });
    }
  }

  #connected(): Bot {
    if (this.#bot === null) throw new HoldpointError("protocolRejected", "No bot is connected yet.");
    return this.#bot;
  }

  async #connect({ channel, settings: given, tokenFile }: Connect): Promise<void> {
    const settings = parseSettings(given);
    const token = readSecret(tokenFile);
    this.#clean = redactor(token);
    const { apiRoot, pollTimeoutMs, sendTimeoutMs } = settings;
    const clients = {
      caller: new BotClient(token, { apiRoot, timeoutMs: sendTimeoutMs, reuse: true }),
      poster: new BotClient(token, { apiRoot, timeoutMs: sendTimeoutMs, reuse: false }),
      receiver: new BotClient(token, { apiRoot, timeoutMs: pollTimeoutMs, reuse: true }),
    };
    const me = await clients.caller.call("getMe", {}, (value) => {
      const bot = botOf(value);
      return bot === undefined || !isObject(value) ? undefined : { ...bot, value };
    });
    if (me.outcome !== "accepted") throw pollProblem(me, settings);
    const webhook = await clients.caller.call("getWebhookInfo", {}, (value) =>
      isObject(value) && typeof value["url"] === "string" ? value["url"] : undefined,
    );
    if (webhook.outcome !== "accepted") throw pollProblem(webhook, settings);
    if (webhook.result !== "") {
      throw new HoldpointError("channelConflict", "A webhook is set for this bot, so its updates go elsewhere.", {
        remedy: "Remove the webhook (deleteWebhook), or make a bot of its own for Holdpoint.",
      });
    }
    const { id, name, username, value } = me.result;
    this.#bot = { channel, settings, id, username, ...clients };
    this.#send({
      type: "connected",
      account: { id, name, username },
      readsGroups: value["can_read_all_group_messages"] === true,
      joinsGroups: value["can_join_groups"] !== false,
    });
  }

  async #pair(bot: Bot, { code, keepUpdates }: Pair): Promise<void> {
    const until = performance.now() + SETUP.pairMs;
    /** Of this channel's server: looked at, and left where they are. */
    const seen = new Set<number>();
    let next: number | null = null;
    let failures = 0;
    while (performance.now() < until) {
      const answer: CallResult<unknown[]> = await bot.receiver.call(
        "getUpdates",
        {
          ...(next === null ? {} : { offset: next }),
          limit: TELEGRAM.updatesPerPoll,
          timeout: bot.settings.pollSeconds,
          allowed_updates: ["message", "edited_message", "callback_query"],
        },
        (value) => (Array.isArray(value) ? (value as unknown[]) : undefined),
      );
      if (answer.outcome !== "accepted") {
        const problem = pollProblem(answer, bot.settings);
        if (problem.kind !== "channelUnreachable") throw problem;
        failures += 1;
        if (failures === 1) this.#notice({ notice: "unreachable", sender: null, place: null, detail: problem.message });
        await sleep(SETUP.againMs);
        continue;
      }
      failures = 0;
      const fresh: { id: number; update: unknown }[] = answer.result.flatMap((update) => {
        const id = updateIdOf(update);
        return id === null || seen.has(id) ? [] : [{ id, update }];
      });
      for (const { id, update } of fresh) {
        if (keepUpdates) seen.add(id);
        else next = id + 1;
        const verdict = judgePairing(update, id, code, bot);
        if (verdict.kind !== "paired") {
          this.#tell(verdict);
          continue;
        }
        // The server that starts later must not answer the code as if somebody had asked for help.
        if (next !== null) await bot.caller.call("getUpdates", { offset: next, limit: 1, timeout: 0 }, () => true);
        const { place, sender } = verdict;
        return this.#send({ type: "paired", place, sender });
      }
      if (keepUpdates && seen.size >= TELEGRAM.updatesPerPoll) {
        throw new HoldpointError(
          "setupFailed",
          `${seen.size} messages wait for the server, and the code is behind them.`,
          {
            remedy: "Start the server once so that it takes them, stop it, and run the set-up again.",
          },
        );
      }
      // What is not confirmed comes back at once.
      if (keepUpdates && answer.result.length > 0) await sleep(SETUP.againMs);
    }
    throw new HoldpointError("setupFailed", `The code did not arrive within ${SETUP.pairMs / 60_000} minutes.`, {
      remedy: "Run the set-up again; it shows a new code.",
    });
  }

  #tell(verdict: Exclude<PairingVerdict, { kind: "paired" }>): void {
    if (verdict.kind === "moved") this.#send({ type: "moved", from: verdict.from, to: verdict.to });
    else if (verdict.kind === "noticed") {
      const { kind: _kind, ...noticed } = verdict;
      this.#notice(noticed);
    }
  }

  #notice(noticed: Omit<Extract<FromSetup, { type: "noticed" }>, "type">): void {
    const detail = noticed.detail === null ? null : this.#clean(noticed.detail).slice(0, 500);
    this.#send({ type: "noticed", ...noticed, detail });
  }

  /** One message; a group that has moved meanwhile gets it under its new id. */
  async #test(bot: Bot, { audience, destination }: Test): Promise<void> {
    const post = (to: string): ReturnType<typeof sendPart> =>
      sendPart(
        bot,
        {
          type: "perform",
          effectId: "setup",
          attempt: 1,
          op: "post",
          destination: to,
          content: { kind: "reply", reply: { code: "connected", audience }, timeZone: "UTC", prompt: null },
          fromPart: 1,
          part: null,
          reference: null,
          replyTo: null,
        },
        1,
      );
    let to = destination;
    let sent = await post(to);
    if (sent.movedTo !== undefined) {
      const [channel = "", from = ""] = destination.split("/");
      to = `${channel}/${sent.movedTo}`;
      this.#send({ type: "moved", from, to: sent.movedTo });
      sent = await post(to);
    }
    if (sent.outcome !== "accepted" || sent.reference === undefined) {
      const error = sent.error ?? new HoldpointError("setupFailed", "The test message was not accepted.").toRecord();
      return this.#send({ type: "refused", error: redactRecord(error, this.#clean) });
    }
    this.#send({ type: "tested", destination: to, reference: sent.reference });
  }
}
