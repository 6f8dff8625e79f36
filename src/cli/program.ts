/**
 * The command line's words: commands, arguments and options. What a command does is imported when it is used, so that
 * `--help` answers at once.
 *
 * The folder `src/cli` owns: words, output for people (80 columns) and programs (`--json`), exit codes, the demo.
 * It must not: derive a status, read the database, talk to a channel; it asks the server through `src/client`.
 */
import { Command, CommanderError, Option } from "commander";

import { product } from "../contracts/product.ts";
import { Context, usage, type GlobalOptions, type Io } from "./context.ts";
import { EXIT } from "./exit-codes.ts";
import { suggestion } from "../contracts/nearest.ts";

/** A command: returns its exit code, or nothing for 0. Arguments and options come as commander parsed them. */
type Action = (context: Context, args: string[], options: Record<string, unknown>) => Promise<number | void>;
type Load = () => Promise<Action>;

/** Runs one command line (without node and script) and returns the exit code. Prints everything, throws nothing. */
export async function runCli(argv: readonly string[], io: Io): Promise<number> {
  const state: { exitCode: number; context: Context } = { exitCode: 0, context: fallbackContext(argv, io) };
  const helpOnError = (text: string): void => (state.context.json ? undefined : io.err(text));
  const program = build(io, helpOnError, async (command, load, args) => {
    state.context = new Context(io, wordsOf(command), command.optsWithGlobals<GlobalOptions>());
    const action = await load();
    state.exitCode = (await action(state.context, args, command.opts())) ?? 0;
  });
  try {
    await program.parseAsync([...argv], { from: "user" });
    return state.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && (error.exitCode === 0 || !state.context.json)) {
      return error.exitCode === 0 ? 0 : EXIT.usage.code;
    }
    const { showFault } = await import("./fault.ts");
    return showFault(state.context, error instanceof CommanderError ? noCommand() : error);
  }
}

/** Only words that lead to no command are left to commander: people get the help page, programs this. */
function noCommand(): Error {
  return usage("No command was given.", "See `holdpoint --help`.");
}

type Run = (command: Command, load: Load, args: string[]) => Promise<void>;

function build(io: Io, helpOnError: (text: string) => void, run: Run): Command {
  const program = new Command("holdpoint")
    .description("Long-running work that stops at a human decision and goes on exactly once.")
    .version(product().version, "--version", "print the version")
    .helpOption("-h, --help", "show help")
    .option("--home <dir>", "the home folder (default: HOLDPOINT_HOME, else ~/.holdpoint)")
    .option("--json", "print one JSON document instead of text")
    .option("--plain", "draw no boxes and use no colour")
    .option("--no-start", "do not start a server when none answers")
    // Long names of commands leave less room for descriptions than commander wraps by itself.
    .configureHelp({ minWidthToWrap: 20 })
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: helpOnError, outputError: () => {} });

  const add = (parent: Command, words: string, description: string, load: Load, isDefault = false): Command =>
    parent
      .command(words, { isDefault })
      .description(description)
      .action(async (...given: unknown[]) => {
        const command = given.at(-1) as Command;
        await run(command, load, command.args);
      });
  const group = (name: string, description: string): Command => program.command(name).description(description);
  add(
    program,
    "run <workflow>",
    "start a workflow (by name or path) and follow it",
    async () => (await import("./commands/run.ts")).run,
  )
    .option("--input <json>", "its input: JSON, @file, or - for standard input")
    .option("--detach", "do not follow it");
  add(program, "runs", "list runs, newest first", async () => (await import("./commands/runs.ts")).runs).option(
    "--limit <n>",
    "how many (1 to 256)",
    "20",
  );
  add(
    program,
    "workflows",
    "list the workflows that can be run by name",
    async () => (await import("./commands/workflows.ts")).workflows,
  );
  add(program, "show <run>", "tell the story of a run", async () => (await import("./commands/show.ts")).show).option(
    "--session",
    "what happened in its Pi session",
  );
  const revision = ["--revision <n>", "only when the run has this revision"] as const;
  add(
    program,
    "pause <run>",
    "stop working on a run; its questions stay open",
    async () => (await import("./commands/control.ts")).pause,
  ).option(...revision);
  add(
    program,
    "resume <run>",
    "go on with a paused or parked run",
    async () => (await import("./commands/control.ts")).resume,
  ).option(...revision);
  add(program, "cancel <run>", "end a run", async () => (await import("./commands/control.ts")).cancel)
    .option("--reason <text>", "why, for the record and the card")
    .option(...revision);
  add(
    program,
    "restart <run>",
    "start a run that has ended once more, with the same input",
    async () => (await import("./commands/control.ts")).restart,
  )
    .option("--reason <text>", "why, for the record")
    .option(...revision);
  add(
    program,
    "answer <run|request> <json|text>",
    "answer a checkpoint; the answer becomes its output",
    async () => (await import("./commands/control.ts")).answer,
  )
    .option("--text", "take it as text, even if it is JSON")
    .option(...revision);
  add(
    program,
    "settings <run>",
    "show the settings of a run and what of them can be changed",
    async () => (await import("./commands/settings.ts")).settings,
  );
  add(
    program,
    "change-settings <run> <patch>",
    "change settings by a JSON Patch: JSON, @file, or - for standard input",
    async () => (await import("./commands/settings.ts")).changeSettings,
  )
    .option("--mount <path>", "those of an included workflow")
    .option("--expect <n>", "only when the settings have this version")
    .option(...revision);
  add(
    program,
    "queue-follow-up <run> <text>",
    "queue a prompt that is sent after the run has succeeded",
    async () => (await import("./commands/settings.ts")).queueFollowUp,
  ).option(...revision);
  add(
    program,
    "remove-follow-up <run> <number>",
    "remove a follow-up that was not sent, by number or id",
    async () => (await import("./commands/settings.ts")).removeFollowUp,
  ).option(...revision);
  add(
    program,
    "updates <run>",
    "what a run says about itself, with its progress",
    async () => (await import("./commands/updates.ts")).updates,
  );
  add(
    program,
    "output <run> [node]",
    "print the result of a run, or the output of one node, as JSON",
    async () => (await import("./commands/updates.ts")).output,
  );
  add(
    program,
    "decisions [decision]",
    "list what waits for a person, or show one whole",
    async () => (await import("./commands/decisions.ts")).decisions,
  ).option("--all", "also those that were decided");

  add(
    program,
    "decide <decision> <choice>",
    "decide at the server's own terminal, where the audience allows it",
    async () => (await import("./commands/decide.ts")).decide,
  ).option("--text <text>", "the text of a choice that asks for one");

  const monitors = group("monitors", "list what is watched and how it stands");
  // The list is what the group does by itself.
  add(monitors, "list", "all of them", async () => (await import("./commands/monitors.ts")).monitors, true);
  add(
    monitors,
    "show <name>",
    "one whole: what it looks at, how it stands, what became of it",
    async () => (await import("./commands/monitors.ts")).monitorShow,
  );
  add(
    monitors,
    "check <name>",
    "probe it now; the result counts",
    async () => (await import("./commands/monitors.ts")).monitorCheck,
  );

  const alerts = add(
    program,
    "alerts",
    "list what is wrong outside, and who has taken it",
    async () => (await import("./commands/alerts.ts")).alertList,
  ).option("--all", "also what is over");
  add(
    alerts,
    "show <alert>",
    "everything known about one alert, by its id or key",
    async () => (await import("./commands/alerts.ts")).alertShow,
  );
  add(
    alerts,
    "ack <alert>",
    "take an alert: nobody is reminded of it any more",
    async () => (await import("./commands/alerts.ts")).alertAck,
  );
  add(
    alerts,
    "snooze <alert>",
    "no sound and no reminder of an alert for a time",
    async () => (await import("./commands/alerts.ts")).alertSnooze,
  ).option("--minutes <n>", "for how long", "60");

  const effect = group("effect", "look at and settle what was done outside");
  add(
    effect,
    "list",
    "list effects that need a look",
    async () => (await import("./commands/effect.ts")).effectList,
  ).option("--all", "also those that are settled");
  add(
    effect,
    "show <id>",
    "everything known about one effect",
    async () => (await import("./commands/effect.ts")).effectShow,
  );
  add(
    effect,
    "settle <id> <outcome>",
    "say what happened: applied, notApplied or retry",
    async () => (await import("./commands/effect.ts")).effectSettle,
  ).option("--result <json>", "with applied: the result, as JSON, @file or -");

  const project = ["--project <dir>", "the project folder (default: this one)"] as const;
  add(
    program,
    "resource-managers [manager]",
    "list what is kept at its requested state in this project",
    async () => (await import("./commands/resources.ts")).resourceManagers,
  )
    .option(...project)
    .option("--limit <n>", "how many (1 to 100000)", "1000");
  add(
    program,
    "resource-manager <manager> <key>",
    "one resource with its conditions, effects, child runs and events",
    async () => (await import("./commands/resources.ts")).resourceManager,
  ).option(...project);
  add(
    program,
    "apply <manager> <key> <spec>",
    "say what is wanted of a resource: JSON, @file, or - for standard input",
    async () => (await import("./commands/resources.ts")).apply,
  )
    .option("--path <file>", "the manager's file, when it is not found by its name")
    .option("--expect <version>", "only when the resource has this version; 0 = only when it is new")
    .option(...project);
  add(
    program,
    "reconcile <manager> <key>",
    "let a manager look at a resource now",
    async () => (await import("./commands/resources.ts")).reconcile,
  ).option(...project);
  add(
    program,
    "delete <manager> <key>",
    "delete a resource; its manager cleans up first",
    async () => (await import("./commands/resources.ts")).deleteResource,
  ).option(...project);

  const channel = group("channel", "look at channels and settle messages in doubt");
  add(channel, "status", "state of every channel", async () => (await import("./commands/channel.ts")).channelStatus);
  add(
    channel,
    "recover <message-id> <action>",
    "say that a message in doubt arrived (confirm) or send it again (retry)",
    async () => (await import("./commands/channel.ts")).channelRecover,
  )
    .option("--part <n>", "which part of a long card")
    .option("--reference <id>", "with confirm: the number of the message in its chat, so that it can be edited");

  add(
    program,
    "doctor",
    "check whether everything here can work, and say what to do where it cannot",
    async () => (await import("./commands/doctor.ts")).doctor,
  );

  const setup = group("setup", "connect a channel");
  add(
    setup,
    "telegram",
    "connect a bot and a chat: token, one-time code, test message, configuration",
    async () => (await import("./commands/setup.ts")).setupTelegram,
  )
    .option("--token-file <path>", "the file with the bot token (default: telegram-token in the home)")
    .option("--profile <name>", "name of the bot in the configuration", "default")
    .option("--audience <name>", "the audience that gets its cards in this chat", "operators")
    .option("--person <id>", "who pairs, as the configuration calls them (default: made from the name)")
    .option("--api-root <url>", "another Bot API server")
    .option("--yes", "ask nothing: the token file must exist, and who sends the code is taken")
    .addOption(new Option("--dialog", "for programs that show the questions themselves").hideHelp());

  const config = group("config", "check the configuration");
  add(
    config,
    "check [file]",
    "validate a configuration file (default: config.json of the home)",
    async () => (await import("./commands/config.ts")).configCheck,
  );

  const server = group("server", "the long-lived process");
  add(server, "run", "run in the foreground", async () => (await import("./commands/server.ts")).serverRun);
  add(server, "start", "start in the background", async () => (await import("./commands/server.ts")).serverStart);
  add(server, "status", "what it is doing", async () => (await import("./commands/server.ts")).serverStatus);
  add(
    server,
    "reload",
    "read config.json again, without a restart",
    async () => (await import("./commands/server.ts")).serverReload,
  );
  add(
    server,
    "stop",
    "stop it; runs go on at the next start",
    async () => (await import("./commands/server.ts")).serverStop,
  );

  const state = group("state", "the database: verify it, copy it, delete old runs");
  add(
    state,
    "verify [file]",
    "check structure, event chains and contents of the database, or of a backup",
    async () => (await import("./commands/state.ts")).stateVerify,
  );
  add(
    state,
    "rebuild-queue",
    "put every managed resource that waits for nothing back into the queue",
    async () => (await import("./commands/resources.ts")).rebuildQueue,
  );
  add(
    state,
    "backup <file>",
    "make a verified copy, also while a server runs",
    async () => (await import("./commands/state.ts")).stateBackup,
  );
  add(
    state,
    "prune",
    "tell which runs ended before a time, and with --apply delete them",
    async () => (await import("./commands/state.ts")).statePrune,
  )
    .requiredOption("--before <time>", "a date or time like 2026-11-30 or 2026-11-30T08:00:00Z (UTC)")
    .option("--apply", "delete them; no server may run")
    .option("--backup <file>", "with --apply: where a copy is made first");

  add(
    program,
    "demo",
    "see it work on this machine, without Telegram",
    async () => (await import("./demo/index.ts")).demo,
  ).option(
    "--answer <answer>",
    "answer by itself: a choice, or choice=text; may be repeated",
    (value: string, before: string[] | undefined) => [...(before ?? []), value],
  );

  overrideExits(program);
  return program;
}

/** Turns commander's complaints into ours, with the nearest valid word of the command where it happened. */
function overrideExits(command: Command): void {
  command.exitOverride((error) => {
    throw explain(error, command);
  });
  for (const child of command.commands) overrideExits(child);
}

function explain(error: CommanderError, command: Command): Error {
  const word = /'([^']+)'/.exec(error.message)?.[1] ?? "";
  const help = `See \`holdpoint ${[...wordsList(command), "--help"].join(" ")}\`.`;
  const message = sentence(error.message);
  switch (error.code) {
    case "commander.unknownCommand":
      return usage(
        message,
        `${suggestion(
          word,
          command.commands.map((child) => child.name()),
        )} ${help}`,
      );
    case "commander.unknownOption":
      return usage(message, `${suggestion(word, optionsOf(command))} ${help}`);
    case "commander.missingArgument":
    case "commander.missingMandatoryOptionValue":
    case "commander.optionMissingArgument":
    case "commander.excessArguments":
    case "commander.invalidArgument":
      return usage(message, help);
    default:
      return error;
  }
}

function sentence(text: string): string {
  const words = text.replace(/^error: /, "").trim();
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}${words.endsWith(".") ? "" : "."}`;
}

function optionsOf(command: Command): string[] {
  const own = command.options.flatMap((option) => (option.long ? [option.long] : []));
  return command.parent ? [...own, ...optionsOf(command.parent)] : [...own, "--help"];
}

function wordsList(command: Command): string[] {
  return command.parent ? [...wordsList(command.parent), command.name()] : [];
}

function wordsOf(command: Command): string {
  return wordsList(command).join(" ");
}

/** For errors before a command is known; the options are looked for as written. */
function fallbackContext(argv: readonly string[], io: Io): Context {
  return new Context(io, "", { json: argv.includes("--json"), plain: argv.includes("--plain") });
}
