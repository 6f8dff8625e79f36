/**
 * `holdpoint setup telegram`: from a token to a chat in which cards appear. Nothing is written before a code that only this
 * terminal shows came back from the phone, a person confirmed what it taught us, and a test message arrived.
 */
import { randomBytes } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";

import { resolveHome } from "../../client/home.ts";
import { parseConfig } from "../../contracts/config.ts";
import { HoldpointError, fromErrorRecord } from "../../contracts/errors.ts";
import { ID_PATTERN } from "../../contracts/ids.ts";
import { SETUP } from "../../contracts/limits.ts";
import { newPairingCode, shownCode } from "../../contracts/pairing-code.ts";
import { fromSetupSchema, type FromSetup, type ToSetup } from "../../contracts/protocol/setup.ts";
import { startPart, type ChannelPart } from "../channel-part.ts";
import { usage, type Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { clean, hang } from "../layout.ts";
import { Prompter, Stopped } from "../prompts.ts";
import { configText, withPairing, writeConfig, type Change } from "../setup/config-change.ts";
import { asDialog } from "../setup/dialog.ts";
import { prepareTokenFile } from "../setup/token-file.ts";
import { howToPair, noticeLine, placeLine } from "../setup/words.ts";
import { existing } from "./server.ts";

type Part = ChannelPart<FromSetup, ToSetup>;
type Reply<T extends FromSetup["type"]> = Extract<FromSetup, { type: T }>;
type Paired = Reply<"paired">;

interface Options {
  readonly profile: string;
  readonly audience: string;
  readonly person: string | null;
  readonly tokenFile: string | null;
  readonly apiRoot: string | null;
  readonly yes: boolean;
  /** Another program shows the questions; a token is not asked then. */
  readonly dialog: boolean;
}

export async function setupTelegram(
  given: Context,
  _args: string[],
  options: Record<string, unknown>,
): Promise<number | void> {
  const dialog = options["dialog"] === true;
  const { context, prompter } = dialog ? asDialog(given) : { context: given, prompter: new Prompter(given.io) };
  try {
    await pairTelegram(context, prompter, { ...optionsOf(options), dialog });
  } catch (error) {
    if (!(error instanceof Stopped)) throw error;
    context.io.err("\nStopped. The configuration was not changed.\n");
    return EXIT.interrupted.code;
  }
}

async function pairTelegram(context: Context, prompter: Prompter, options: Options): Promise<void> {
  const { audience, profile } = options;
  const home = resolveHome(context.home);
  const path = join(home, "config.json");
  const before = configText(path);
  const config = before === null ? null : parseConfig(before, path);
  const tokenFile = await chooseTokenFile(home, config?.telegramProfiles[profile]?.tokenFile, options, prompter);
  const known = Object.entries(config?.telegramProfiles ?? {}).find(([, entry]) => entry.tokenFile === tokenFile);
  if (known !== undefined && known[0] !== profile) {
    throw new HoldpointError("setupFailed", `${tokenFile} is the token file of profile "${known[0]}".`, {
      remedy: `Run it again with \`--profile ${known[0]}\`.`,
    });
  }
  await refuseBesideServer(home, `telegram:${profile}`);
  mkdirSync(home, { recursive: true, mode: 0o700 });
  if (await prepareTokenFile(tokenFile, options.yes || options.dialog ? null : prompter))
    say(context, `Written: ${tokenFile} (0600).`);

  const part: Part = startPart("adapters/telegram/setup/main.js", fromSetupSchema);
  try {
    const apiRoot = options.apiRoot ?? known?.[1].apiRoot ?? null;
    part.send({
      type: "connect",
      channel: `telegram:${profile}`,
      tokenFile,
      settings: { apiRoot: apiRoot ?? "https://api.telegram.org" },
    });
    const bot = await reply(part, "connected", SETUP.answerMs);
    const code = newPairingCode(randomBytes);
    for (const line of howToPair(bot, shownCode(code), code)) say(context, line);
    part.send({ type: "pair", code, keepUpdates: known !== undefined });
    const { moved, paired } = await waitForCode(context, part);
    prompter.step();
    const place = moved.get(paired.place.id) ?? paired.place.id;
    const pairing = {
      profile,
      tokenFile,
      apiRoot,
      audience,
      person: options.person,
      user: paired.sender,
      chat: place,
      topic: paired.place.topic,
    };
    const first = withPairing(before, pairing, path);
    show(context, bot, paired, first, audience, path);
    if (!options.yes && !(await prompter.confirm("Is that right?"))) throw new Stopped();

    part.send({ type: "test", destination: first.destination, audience });
    const { arrived, at } = await waitForTest(context, part, place);
    const change = arrived === place ? first : withPairing(before, { ...pairing, chat: arrived }, path);
    writeConfig(path, before, change.text);
    say(context, "A test message was sent; you should see it now.");
    const reloaded = await reload(home);
    context.result({
      file: path,
      account: bot.account,
      profile,
      audience,
      person: change.person,
      user: paired.sender,
      place: { ...paired.place, id: arrived },
      destination: change.destination,
      testMessage: at,
      reloaded,
    });
    context.line(`Written: ${path}`);
    for (const line of nextSteps(reloaded)) context.line(line);
  } finally {
    part.close();
  }
}

/** What people have to see at once, also beside the one document of `--json`. */
function say(context: Context, text: string): void {
  const lines = hang(text, context.width, "", "  ");
  if (context.json) context.io.err(`${lines.join("\n")}\n`);
  else context.lines(lines);
}

function optionsOf(given: Record<string, unknown>): Omit<Options, "dialog"> {
  const text = (name: string): string | null => (typeof given[name] === "string" ? given[name] : null);
  const named = (name: string, fallback: string | null): string | null => {
    const value = text(name) ?? fallback;
    if (value !== null && !ID_PATTERN.name.test(value))
      throw usage(`--${name} "${value}" must be letters, digits, dot, hyphen or underscore, at most 200.`);
    return value;
  };
  return {
    profile: named("profile", "default") ?? "default",
    audience: named("audience", "operators") ?? "operators",
    person: named("person", null),
    tokenFile: text("tokenFile"),
    apiRoot: text("apiRoot"),
    yes: given["yes"] === true,
  };
}

async function chooseTokenFile(
  home: string,
  configured: string | undefined,
  { tokenFile, yes }: Options,
  prompter: Prompter,
): Promise<string> {
  const usual = configured ?? join(home, "telegram-token");
  if (tokenFile !== null) return resolve(tokenFile);
  if (yes) return usual;
  return resolve(await prompter.ask("File with the bot token", usual));
}

/** Two that poll one bot take each other's messages; and what the server has not heard yet must stay for it. */
async function refuseBesideServer(home: string, channel: string): Promise<void> {
  const client = await existing(home);
  if (client === undefined) return;
  try {
    const { channels } = await client.call("channel.status", {});
    if (!channels.some((status) => status.channel === channel)) return;
  } finally {
    client.close();
  }
  throw new HoldpointError("setupFailed", `The server polls ${channel}, and only one may receive a bot's messages.`, {
    remedy: "Run `holdpoint server stop`, set up, and start it again; runs and questions are kept.",
  });
}

/** The reply of this kind. Throws what the part refused with. */
async function reply<T extends FromSetup["type"]>(part: Part, type: T, withinMs: number): Promise<Reply<T>> {
  const frame = await part.next(withinMs);
  if (frame.type === "refused") throw fromErrorRecord(frame.error);
  if (frame.type !== type) throw new HoldpointError("protocolRejected", `"${frame.type}" came instead of "${type}".`);
  return frame as Reply<T>;
}

/** Tells what comes in until the code is there; `moved`: groups that became supergroups meanwhile. */
async function waitForCode(
  context: Context,
  part: Part,
): Promise<{ paired: Paired; moved: ReadonlyMap<string, string> }> {
  const moved = new Map<string, string>();
  let told = 0;
  for (;;) {
    const frame = await part.next(SETUP.pairMs + SETUP.answerMs);
    switch (frame.type) {
      case "paired":
        return { paired: frame, moved };
      case "moved":
        moved.set(frame.from, frame.to);
        say(context, `Group ${frame.from} became a supergroup; its id is ${frame.to} now.`);
        break;
      case "noticed":
        told += 1;
        if (told <= SETUP.noticesShown) say(context, clean(noticeLine(frame)));
        if (told === SETUP.noticesShown) say(context, "Further messages like these are not shown.");
        break;
      case "refused":
        throw fromErrorRecord(frame.error);
      default:
        throw new HoldpointError("protocolRejected", `"${frame.type}" came while a code was waited for.`);
    }
  }
}

/** Where the test message arrived, which is another id when the group has moved. */
async function waitForTest(context: Context, part: Part, place: string): Promise<{ arrived: string; at: string }> {
  let arrived = place;
  for (;;) {
    const frame = await part.next(SETUP.answerMs * 2);
    if (frame.type === "refused") throw fromErrorRecord(frame.error);
    if (frame.type === "tested") return { arrived, at: frame.reference };
    if (frame.type !== "moved")
      throw new HoldpointError("protocolRejected", `"${frame.type}" came instead of "tested".`);
    arrived = frame.to;
    say(context, `The group became a supergroup; its id is ${arrived} now.`);
  }
}

function show(
  context: Context,
  { account, readsGroups }: Reply<"connected">,
  { place, sender }: Paired,
  change: Change,
  audience: string,
  path: string,
): void {
  const row = (name: string, text: string): void => say(context, `${name.padEnd(10)}${clean(text)}`);
  say(context, "");
  row("Bot", `${account.username === null ? account.name : `@${account.username}`} (id ${account.id})`);
  row(
    "Person",
    `${sender.name ?? "without a name"}, Telegram user ${sender.id}, "${change.person}" in the configuration`,
  );
  row("Chat", placeLine(place, sender.name));
  row("Audience", `${audience} gets its cards at ${change.destination}`);
  row("File", path);
  if (place.kind === "group")
    say(context, "Note: this group gets another id when it becomes a supergroup; `holdpoint doctor` says so then.");
  if (place.kind !== "private" && !readsGroups)
    say(
      context,
      "Note: privacy mode is on, so in this group the bot hears commands and replies to its messages only. That is all it needs.",
    );
}

/** A server that runs without this channel takes it up at once. Null: none runs. */
async function reload(home: string): Promise<boolean | null> {
  const client = await existing(home);
  if (client === undefined) return null;
  try {
    return (await client.call("server.reload", {})).loaded;
  } finally {
    client.close();
  }
}

function nextSteps(reloaded: boolean | null): string[] {
  if (reloaded === true) return ["The running server uses it already."];
  if (reloaded === false) return ["The running server refused it; see `holdpoint server status`."];
  return ["Next: `holdpoint server start`, then `holdpoint channel status`."];
}
