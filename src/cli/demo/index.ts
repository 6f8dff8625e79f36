/**
 * `holdpoint demo` (and `npm start`): the whole service on this machine, with the Bot API stand-in instead of Telegram.
 * A person presses a button by number or replies; without a terminal it answers by itself. The answer is made at the
 * stand-in and reaches the server as every other answer does: through the adapter's getUpdates.
 */
import { join } from "node:path";

import type { HoldpointClient, RunView } from "../../client/index.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { DEMO } from "../../contracts/limits.ts";
import { product } from "../../contracts/product.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { clean, hang } from "../layout.ts";
import { statusWord } from "../story.ts";
import { duration, preciseTime, zoneName } from "../times.ts";
import { keyboardAnswerer, listAnswerer, type Answerer } from "./answerer.ts";
import { DEMO_CHOICES, choiceIndex, parseAnswer } from "./answers.ts";
import { Conversation } from "./conversation.ts";
import { PERSON, Undo, buildStage, type Stage } from "./stage.ts";
import type { PhoneState } from "./stand-in.ts";
import { answerUpdates, durationLine, durations, processRows, timelineRows, type ProcessRow } from "./timeline.ts";

/** What the demo deploys. */
const INPUT = { service: "shop-api", version: "4.12.0" };

export async function demo(context: Context, _args: string[], options: Record<string, unknown>): Promise<number> {
  const given = (options["answer"] as string[] | undefined)?.map(parseAnswer);
  for (const answer of given ?? []) choiceIndex(answer, DEMO_CHOICES);
  const interactive = given === undefined && context.io.terminal && context.io.stdin.isTTY === true && !context.json;
  const stop = new AbortController();
  let signalled: NodeJS.Signals | undefined;
  const release = context.io.onSignal((signal) => {
    signalled ??= signal;
    stop.abort(new HoldpointError("demoFailed", `Stopped by ${signal}.`));
  });
  const limit = interactive ? undefined : setTimeout(() => stop.abort(overtime()), DEMO.totalMs);
  const undo = new Undo();
  try {
    return await Promise.race([perform(context, undo, stop.signal, interactive, given ?? []), aborted(stop.signal)]);
  } catch (error) {
    if (signalled === undefined) throw stop.signal.aborted ? stop.signal.reason : error;
    context.line();
    context.line("Stopped; tidying up …");
    return signalled === "SIGINT" ? EXIT.interrupted.code : EXIT.terminated.code;
  } finally {
    clearTimeout(limit);
    stop.abort();
    await undo.all();
    release();
  }
}

function overtime(): HoldpointError {
  return new HoldpointError("demoFailed", `The demo did not reach its end within ${duration(DEMO.totalMs)}.`);
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
}

type Given = ReturnType<typeof parseAnswer>[];

async function perform(
  context: Context,
  undo: Undo,
  signal: AbortSignal,
  interactive: boolean,
  given: Given,
): Promise<number> {
  const started = performance.now();
  introduce(context, interactive);
  const stage = await buildStage(undo, signal, (text) => context.line(text));
  const answerer: Answerer = interactive ? keyboardAnswerer(context, signal) : listAnswerer(context, given);
  undo.add(() => answerer.close());
  const { view, state } = await Promise.race([play(context, stage, answerer), broken(stage)]);
  const channels = await channelPids(stage.client);
  report(context, stage, view, state, channels, performance.now() - started);
  for (const { choice } of answerer.unused()) {
    context.line();
    context.line(`--answer ${choice} was not needed: no decision was left to answer.`);
  }
  if (view.run.status === "completed") return EXIT.ok.code;
  throw new HoldpointError(
    "demoFailed",
    `The run ended as "${statusWord(view.run.status)}": ${clean(view.error?.message ?? view.run.reason ?? "no reason given")}`,
  );
}

async function broken(stage: Stage): Promise<never> {
  throw new HoldpointError("demoFailed", `The demo cannot go on: ${await stage.broken}.`);
}

function introduce(context: Context, interactive: boolean): void {
  context.line(context.paint("bold", "Holdpoint demo"));
  const words =
    "A deployment is planned, stops until a person decides, and goes on exactly once. " +
    `You see ${PERSON.name}'s phone. Nothing leaves this machine.`;
  context.lines(hang(words, context.width, "", ""));
  if (!interactive) context.line("There is nobody at a terminal (or --answer is given): the demo answers by itself.");
  context.line();
}

/** Runs the example to its end, with the phone in between. */
async function play(context: Context, stage: Stage, answerer: Answerer): Promise<{ view: RunView; state: PhoneState }> {
  const conversation = new Conversation(context, stage, answerer);
  const ack = await stage.client.call("run.start", {
    workflow: "deploy",
    workflowPath: join(product().installPath, "docs", "examples", "deploy.workflow.ts"),
    projectPath: stage.home,
    input: INPUT,
  });
  context.line(`Run ${ack.shortId} started.`);
  const watch = stage.client.watchRun(ack.runId, (view) => conversation.onView(view));
  try {
    const failed = watch.done.then(() => new Promise<never>(() => {}));
    return await Promise.race([conversation.toEnd(), failed]);
  } finally {
    watch.stop();
  }
}

async function channelPids(client: HoldpointClient): Promise<ProcessRow[]> {
  const { channels } = await client.call("channel.status", {});
  return channels.flatMap(({ channel, pid }) => (pid === null ? [] : [{ kind: `adapter ${channel}`, pid }]));
}

function report(
  context: Context,
  stage: Stage,
  view: RunView,
  state: PhoneState,
  channels: readonly ProcessRow[],
  elapsed: number,
): void {
  const rows = timelineRows(stage, view, state);
  const processes = processRows(stage, view, channels);
  const spans = durations(view, state);
  const { run } = view;
  context.result({
    runId: run.runId,
    status: run.status,
    home: stage.home,
    output: view.finalOutput,
    processes,
    updateIds: answerUpdates(state),
    decisions: view.decisions,
    durations: spans,
    elapsedMs: Math.round(elapsed),
    timeline: rows,
  });
  const first = rows[0]?.at ?? 0;
  context.heading(`What happened (times in ${zoneName(first)})`);
  for (const row of rows) {
    const lead = `${preciseTime(row.at)}  ${context.paint("dim", row.side.padEnd(7))}  `;
    context.lines(hang(row.text, context.width, lead, " ".repeat(23)));
  }
  context.heading("Processes");
  for (const { kind, pid } of processes) context.line(`  pid ${String(pid).padEnd(8)} ${clean(kind)}`);
  context.heading("How long");
  for (const span of spans) context.line(`  ${durationLine(span)}`);
  context.line(`  ${duration(elapsed)} everything together`);
  context.heading(`Run ${run.shortId} (${run.runId}): ${statusWord(run.status)}.`);
  goOn(context);
}

/** What a person does next. */
function goOn(context: Context): void {
  const root = product().installPath;
  // Whoever came by `npm start` or npx has no holdpoint in the PATH.
  const holdpoint = context.io.env["npm_lifecycle_event"] === undefined ? "holdpoint" : "npx holdpoint";
  const steps = [
    "In Telegram write /newbot to @BotFather; it answers with a token.",
    `${holdpoint} setup telegram: asks for the token without showing it, and shows a code that you send to your bot from the phone.`,
    `${holdpoint} server start, then ${holdpoint} doctor, which says whether everything fits.`,
    `${holdpoint} run ${join(root, "docs/examples/deploy.workflow.ts")} --input '${JSON.stringify(INPUT)}'`,
  ];
  context.heading("Now with a real bot");
  for (const [i, step] of steps.entries()) context.lines(hang(step, context.width, `  ${i + 1}. `, "     "));
}
