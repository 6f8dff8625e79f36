/**
 * `holdpoint channel status | recover`
 */
import type { ChannelStatus } from "../../client/index.ts";
import { usage, type Context } from "../context.ts";
import { clean, hang } from "../layout.ts";
import { certainty, effectTitle } from "../story.ts";
import { duration, when } from "../times.ts";
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
  const unread = channel.pendingUpdates === null ? "" : `, ${channel.pendingUpdates} at the service not read yet`;
  lines.push(
    ...hang(
      `${pid}${poll}${unread}, ${channel.queued} waiting to be sent, ${channel.ambiguous} in doubt`,
      width,
      "  ",
      "  ",
    ),
  );
  lines.push(...hang(doubtLine(channel.doubts), width, "  ", "  "));
  for (const place of channel.places) lines.push(...hang(placeLine(place), width, "  ", "  "));
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

/** How long nobody knew whether messages arrived. */
function doubtLine({ ended, longestMs, medianMs, oldestAt }: ChannelStatus["doubts"]): string {
  const open = oldestAt === null ? "nothing in doubt now" : `in doubt since ${when(oldestAt)}`;
  if (ended === 0 || medianMs === null || longestMs === null) return `${open}; none ended in 30 days`;
  return `${open}; ${ended} ended in 30 days, after ${duration(medianMs)} usually, ${duration(longestMs)} at most`;
}

function placeLine({ deadAt, error, movedTo, place }: ChannelStatus["places"][number]): string {
  if (deadAt === null) return `Chat ${clean(place)} is ${clean(movedTo ?? "")} now; write that id into config.json`;
  return `Chat ${clean(place)} cannot be reached since ${when(deadAt)}: ${clean(error ?? "no reason was given")}`;
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
