/**
 * Long polling: one getUpdates at a time with the cursor as offset, which confirms what has been handled and nothing
 * else. Failures are turned into plain words and a waiting time; the loop of the child does the waiting.
 */
import { TELEGRAM } from "../../src/contracts/limits.ts";
import type { Inbound } from "../../src/contracts/protocol/channel.ts";
import { ChannelProblem } from "../channel/transport.ts";
import { type BotClient, type CallResult } from "./call.ts";
import { inboundOf, updateIdOf, type Self } from "./inbound.ts";

export interface PollTimes {
  /** How long Telegram may hold an empty poll. */
  readonly pollSeconds: number;
  /** After a 409: longer than the other poll can be held. */
  readonly conflictWaitMs: number;
}

export class Poller {
  readonly #client: BotClient;
  readonly #self: Self;
  readonly #times: PollTimes;
  /** True until an empty answer showed that nothing waits: then the backlog is fetched without holding. */
  #behind = true;

  constructor(client: BotClient, self: Self, times: PollTimes) {
    this.#client = client;
    this.#self = self;
    this.#times = times;
  }

  /** Updates after `after`, in Telegram's order. Ids lower than `after` are handed on as they are. Throws `ChannelProblem`. */
  async poll(after: number | null, signal: AbortSignal): Promise<readonly Inbound[]> {
    const result = await this.#client.call(
      "getUpdates",
      {
        ...(after === null ? {} : { offset: after + 1 }),
        limit: TELEGRAM.updatesPerPoll,
        timeout: this.#behind ? 0 : this.#times.pollSeconds,
        // Edits are asked for so that a person who corrects an answer hears that it changes nothing.
        allowed_updates: ["message", "edited_message", "callback_query"],
      },
      (value) => (Array.isArray(value) ? (value as unknown[]) : undefined),
      signal,
    );
    if (signal.aborted) return [];
    if (result.outcome !== "accepted") {
      this.#behind = true;
      throw pollProblem(result, this.#times);
    }
    this.#behind = result.result.length > 0;
    const updates: Inbound[] = [];
    for (const update of result.result) {
      const id = updateIdOf(update);
      if (id !== null) updates.push(inboundOf(update, id, this.#self));
    }
    return updates;
  }
}

/** What a failed getMe or getUpdates means, and when to try again. */
export function pollProblem(
  result: Exclude<CallResult<unknown>, { outcome: "accepted" }>,
  times: PollTimes,
): ChannelProblem {
  if (result.outcome === "notSent") {
    return new ChannelProblem("channelUnreachable", `Telegram cannot be reached: ${result.reason}`);
  }
  if (result.outcome === "ambiguous") {
    return new ChannelProblem("channelUnreachable", `Telegram did not answer properly: ${result.reason}`);
  }
  const { code, description, parameters } = result;
  // 404 without a method name is how Telegram answers a token that has not even the right form.
  if (code === 401 || code === 404) {
    return new ChannelProblem("tokenRefused", `Telegram does not accept the bot token (${code}: ${description}).`, {
      secretRefused: true,
    });
  }
  if (code === 409) {
    const webhook = /webhook/i.test(description);
    const message = webhook
      ? "A webhook is set for this bot, so its updates go elsewhere and taps do not arrive here."
      : "Another program polls with the same bot token; taps may arrive there instead of here.";
    return new ChannelProblem("channelConflict", message, {
      waitMs: times.conflictWaitMs,
      details: { code, description },
      ...(webhook ? { remedy: "Remove the webhook (deleteWebhook), or give this service a bot of its own." } : {}),
    });
  }
  const message = `Telegram refused to hand over updates (${code}: ${description}).`;
  const { retryAfterS } = parameters;
  return retryAfterS === undefined
    ? new ChannelProblem("channelRefused", message)
    : new ChannelProblem("channelRefused", message, { waitMs: retryAfterS * 1_000 });
}
