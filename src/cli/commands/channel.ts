/**
 * `holdpoint channel status | recover`
 */
import type { ChannelStatus } from "../../client/index.ts";
import { usage, type Context } from "../context.ts";
import { clean, hang } from "../layout.ts";
import { certainty, effectTitle } from "../story.ts";
import { when } from "../times.ts";
import { oneOf, wholeNumber } from "../values.ts";

const ACTIONS = ["confirm", "retry"] as const;
/** No card has more parts; the server knows the exact number. */
const MAX_PART = 1_000;

export async function channelStatus(context: Context): Promise<void> {
  const { channels } = await context.withClient((client) => client.call("channel.status", {}));
  context.result({ channels });
  if (channels.length === 0) {
    context.line("No channel is configured. See config.example.json, then `holdpoint config check`.");
    return;
  }
  for (const channel of channels) context.lines(channelLines(channel, context.width));
}

/** A channel in a few lines. */
export function channelLines(channel: ChannelStatus, width: number): string[] {
  const account = channel.account === null ? "" : ` as ${clean(channel.account)}`;
  const lines = [`${clean(channel.channel)}: ${channel.state}${account}`];
  const poll = channel.lastPollAt === null ? "no good poll yet" : `last good poll ${when(channel.lastPollAt)}`;
  const pid = channel.pid === null ? "" : `pid ${channel.pid}, `;
  const doubt = channel.ambiguousSince === null ? "" : ` (the oldest since ${when(channel.ambiguousSince)})`;
  const unread = channel.pendingUpdates === null ? "" : `, ${channel.pendingUpdates} at the service not read yet`;
  lines.push(
    ...hang(
      `${pid}${poll}${unread}, ${channel.queued} waiting to be sent, ${channel.ambiguous} in doubt${doubt}`,
      width,
      "  ",
      "  ",
    ),
  );
  if (channel.deafSince !== null) {
    const deaf = `hears nothing since ${when(channel.deafSince)}: taps and replies do not arrive`;
    lines.push(...hang(deaf, width, "  ", "  "));
  }
  if (channel.restarts > 0) lines.push(`  restarted ${channel.restarts === 1 ? "once" : `${channel.restarts} times`}`);
  if (channel.error !== null) {
    lines.push(...hang(`${clean(channel.error.message)} (${channel.error.code})`, width, "  ", "  "));
    lines.push(...hang(`To do: ${clean(channel.error.remedy)}`, width, "  ", "  "));
  }
  if (channel.ambiguous > 0) {
    const hint = "See `holdpoint effect list`, then `holdpoint channel recover <id> confirm|retry`.";
    lines.push(...hang(hint, width, "  ", "  "));
  }
  return lines;
}

export async function channelRecover(
  context: Context,
  args: string[],
  options: Record<string, unknown>,
): Promise<void> {
  const action = oneOf(args[1] ?? "", ACTIONS, "action");
  const given = options as { part?: string; reference?: string };
  if (given.reference !== undefined && action !== "confirm") throw usage('--reference belongs to "confirm".');
  const payload = {
    effect: args[0] ?? "",
    action,
    part: given.part === undefined ? null : wholeNumber(given.part, "--part", 1, MAX_PART),
    reference: given.reference ?? null,
  };
  const effect = await context.withClient((client) => client.call("channel.recover", payload));
  context.result(effect);
  context.line(`${effect.shortId} (${effectTitle(effect)}): ${certainty(effect)}.`);
}
