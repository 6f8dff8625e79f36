/**
 * `holdpoint run <name|path>`: starts a run and follows it to its end.
 */
import type { HoldpointClient, RunView } from "../../client/index.ts";
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import type { Context } from "../context.ts";
import { EXIT, exitCodeOfRun } from "../exit-codes.ts";
import { follow } from "../follow.ts";
import { readJson } from "../input.ts";
import { clean, hang } from "../layout.ts";
import { nextLines, statusWord } from "../story.ts";
import { duration } from "../times.ts";
import { workflowNamed } from "../workflow-files.ts";
import { jsonLine } from "./show.ts";

/** Longest error at the end of a followed run, in UTF-16 units: about ten lines. `show` has all of it. */
const ERROR_UNITS = 800;

export async function run(context: Context, args: string[], options: Record<string, unknown>): Promise<number> {
  const given = options["input"];
  const input = typeof given === "string" ? await readJson(given, "--input", context.io) : {};
  const workflow = await workflowNamed(args[0] ?? "");
  return context.withClient(async (client) => {
    const payload = { workflow: workflow.name, workflowPath: workflow.path, projectPath: process.cwd(), input };
    const ack = await client.call("run.start", payload);
    context.line(`Run ${ack.shortId} of ${clean(workflow.name)} is ${ack.status} (${ack.runId}).`);
    if (options["detach"] === true) {
      context.result(ack);
      context.line(`Look at it: holdpoint show ${ack.shortId}`);
      return EXIT.ok.code;
    }
    return followToEnd(context, client, ack);
  });
}

async function followToEnd(
  context: Context,
  client: HoldpointClient,
  ack: { runId: string; shortId: string },
): Promise<number> {
  const end = await follow(context, client, ack.runId);
  if (end.kind === "signal") {
    context.result({ ...ack, detached: true });
    context.line(`Detached; the run goes on. Look again: holdpoint show ${ack.shortId}`);
    return end.signal === "SIGINT" ? EXIT.interrupted.code : EXIT.terminated.code;
  }
  context.result(end.view);
  finish(context, end.view);
  return exitCodeOfRun(end.view.run.status, end.view.error?.code);
}

function finish(context: Context, view: RunView): void {
  const { run } = view;
  const took = duration((run.finishedAt ?? run.updatedAt) - run.createdAt);
  const word = statusWord(run.status);
  context.line(context.paint("bold", `${word.slice(0, 1).toUpperCase()}${word.slice(1)} after ${took}.`));
  if (view.error !== null) {
    const message = cutToUnits(view.error.message, ERROR_UNITS);
    context.lines(hang(`${clean(message)} (${view.error.code})`, context.width, "", "  "));
    if (message !== view.error.message) context.line(`The whole message: holdpoint show ${run.shortId}`);
    context.lines(hang(`To do: ${clean(view.error.remedy)}`, context.width, "", "  "));
  }
  if (view.finalOutput !== null) context.line(`Result: ${jsonLine(view.finalOutput, context.width - 8)}`);
  if (run.finishedAt === null) for (const line of nextLines(view)) context.lines(hang(line, context.width, "", "  "));
  context.line(`The whole story: holdpoint show ${run.shortId}`);
}
