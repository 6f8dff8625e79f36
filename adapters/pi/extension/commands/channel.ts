/** `/workflow-channel status | setup | reload | recover`: the channels that carry decisions, and this session's own link. */
import { piCommands as words } from "../../../../renderers/text/en.ts";
import { clean } from "../../../../renderers/terminal/layout.ts";
import { certainty, effectTitle } from "../../../../renderers/text/en/story.ts";
import { when } from "../../../../renderers/terminal/times.ts";
import type { ChannelStatus } from "../../../../src/contracts/protocol/operations.ts";
import { Refusal } from "../actions.ts";
import { takeWord } from "../answer/plan.ts";
import type { Command } from "./request.ts";
import { setupProgram } from "./setup.ts";

const RECOVER = ["confirm", "retry"] as const;

export const CHANNEL_WORDS: Readonly<Record<string, Command>> = {
  status: async (_request, { service, troubles }) => {
    const { channels } = await service.call("channel.status", {});
    const lines = channels.length === 0 ? [words.noChannels] : channels.flatMap(channelLines);
    return [...lines, ...troubles().map((one) => words.trouble(clean(one)))].join("\n");
  },
  setup: ({ context, line }, { setup }) =>
    Promise.resolve(
      context.mode === "tui" ? setup.begin(line, context) : words.setUp(`node ${setupProgram()} setup telegram`),
    ),
  reload: async (_request, { service }) => {
    const { error, loaded } = await service.call("server.reload", {});
    return error === null ? words.reloaded(loaded) : `${clean(error.message)} ${clean(error.remedy)} (${error.code})`;
  },
  recover: async ({ line }, { service }) => {
    const [effect, rest] = takeWord(line);
    const [given, reference] = takeWord(rest);
    const action = RECOVER.find((one) => one === given);
    if (effect === "" || action === undefined)
      throw new Refusal(words.needs("/workflow-channel recover <id> confirm [message id] | retry"));
    const payload = { effect, action, part: null, reference: reference === "" ? null : reference };
    const settled = await service.call("channel.recover", payload);
    return `${settled.shortId} (${effectTitle(settled)}): ${certainty(settled)}.`;
  },
};

export const channelCommand: Command = (request, tools) => {
  const [word, rest] = takeWord(request.line);
  const name = word === "" ? "status" : word;
  const command = Object.hasOwn(CHANNEL_WORDS, name) ? CHANNEL_WORDS[name] : undefined;
  if (command === undefined) throw new Refusal(words.unknownWord(word, Object.keys(CHANNEL_WORDS)));
  return command({ ...request, line: rest }, tools);
};

function channelLines(channel: ChannelStatus): string[] {
  const account = channel.account === null ? "" : ` as ${clean(channel.account)}`;
  const heard = channel.lastPollAt === null ? "" : `, heard ${when(channel.lastPollAt)}`;
  const lines = [
    `${clean(channel.channel)}: ${channel.state}${account}${heard}, ${channel.queued} to send, ${channel.ambiguous} in doubt`,
  ];
  if (channel.deafSince !== null) lines.push(`  hears nothing since ${when(channel.deafSince)}`);
  if (channel.error !== null)
    lines.push(`  ${clean(channel.error.message)} ${clean(channel.error.remedy)} (${channel.error.code})`);
  return lines;
}
