/**
 * `holdpoint show <run>`: the story of one run.
 */
import { dirname } from "node:path";

import type { CheckpointSummary, DecisionSummary, EffectSummary, RunView } from "../../client/index.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { Context, Paint } from "../context.ts";
import { progressLine } from "../progress.ts";
import { clean, cleanLines, cutToColumns, hang } from "../layout.ts";
import {
  certainty,
  destinationLines,
  effectTitle,
  itemText,
  nextLines,
  policyLines,
  resolutionLine,
  statusWord,
  storyItems,
} from "../story.ts";
import { clockTime, duration, when } from "../times.ts";

type Options = Record<string, unknown>;

export async function show(context: Context, args: string[], options: Options): Promise<void> {
  if (options["session"] === true) return (await import("./show-session.ts")).showSession(context, args[0] ?? "");
  const view = await context.withClient((client) => client.call("run.get", { run: args[0] ?? "" }));
  context.result(view);
  if (!context.json) tell(context, view);
}

const SHOWN_FRAMES = 3;
const SHOWN_LINES = 10;

/** Prints the whole story. */
export function tell(context: Context, view: RunView): void {
  head(context, view);
  context.heading("What happened");
  if (view.timelineCut) context.line("  (earlier lines are left out; --json shows where the page begins)");
  const items = storyItems(view.timeline);
  for (const item of items) {
    context.lines(
      hang(itemText(item), context.width, `  ${context.paint("dim", clockTime(item.at))}  `, " ".repeat(12)),
    );
  }
  if (items.length === 0) context.line("  Nothing yet.");
  if (view.decisions.length + view.checkpoints.length > 0) {
    context.heading("What was asked");
    for (const decision of view.decisions) decisionLines(context, decision);
    for (const checkpoint of view.checkpoints) checkpointLines(context, checkpoint);
  }
  outside(context, view.effects);
  if (view.progress.length > 0) {
    context.heading("Progress");
    for (const progress of view.progress) context.lines(hang(progressLine(progress), context.width, "  ", "    "));
  }
  if (view.followUps.length > 0) {
    context.heading("Follow-ups");
    for (const followUp of view.followUps) {
      const why = followUp.reason === null ? "" : ` (${clean(followUp.reason)})`;
      const text = `${followUp.orderNumber}  ${followUp.status}${why}: ${clean(followUp.prompt)}`;
      context.lines(hang(cutToColumns(text, context.width * 2), context.width, "  ", "     "));
    }
  }
  if (view.finalOutput !== null) {
    context.heading("Result");
    context.line(`  ${jsonLine(view.finalOutput, context.width - 2)}`);
  }
  if (view.error !== null) {
    context.heading("Error");
    context.lines(hang(`${clean(view.error.message)} (${view.error.code})`, context.width, "  ", "  "));
    for (const frame of thrownAt(view)) context.lines(hang(clean(frame), context.width, "    ", "      "));
    for (const line of lastWords(view)) context.lines(hang(line, context.width, "  ", "      "));
    context.lines(hang(`To do: ${clean(view.error.remedy)}`, context.width, "  ", "  "));
  }
  context.heading("What comes next");
  for (const line of nextLines(view)) context.lines(hang(line, context.width, "  ", "    "));
}

function head(context: Context, view: RunView): void {
  const { run } = view;
  const name = clean(run.title === null ? run.workflow : `${run.workflow} · ${run.title}`);
  context.line(context.paint("bold", cutToColumns(name, context.width - 12)) + `  run ${run.shortId}`);
  const end = run.finishedAt ?? run.updatedAt;
  const took = run.finishedAt === null ? "" : `, took ${duration(end - run.createdAt)}`;
  const steps = run.steps === 1 ? "1 step" : `${run.steps} steps`;
  context.line(
    `${context.paint(colourOf(run.status), statusWord(run.status))} · started ${when(run.createdAt)}${took} · ${steps}`,
  );
  if (view.lineage.restartOf !== null)
    context.line(cutToColumns(`Restart ${view.lineage.restartNumber} of ${view.lineage.restartOf}`, context.width));
  if (view.lineage.restartedAs !== null)
    context.line(cutToColumns(`Restarted as ${view.lineage.restartedAs}`, context.width));
  context.line(context.paint("dim", cutToColumns(`${run.runId} · ${clean(view.workflowPath)}`, context.width)));
}

function decisionLines(context: Context, decision: DecisionSummary): void {
  context.lines(hang(`${decision.fingerprint}  ${clean(decision.title)}`, context.width, "  ", " ".repeat(10)));
  const indent = " ".repeat(10);
  context.lines(hang(resolutionLine(decision), context.width, indent, indent));
  for (const line of policyLines(decision)) context.lines(hang(line, context.width, indent, indent));
  for (const line of destinationLines(decision)) context.lines(hang(line, context.width, indent, `${indent}  `));
  for (const note of decision.notes) context.lines(hang(clean(note), context.width, indent, indent));
}

function checkpointLines(context: Context, checkpoint: CheckpointSummary): void {
  const indent = " ".repeat(12);
  const title = `${checkpoint.shortId}  ${clean(checkpoint.summary ?? `checkpoint ${checkpoint.nodeId}`)}`;
  context.lines(hang(title, context.width, "  ", indent));
  if (checkpoint.content !== null) context.line(`${indent}${jsonLine(checkpoint.content, context.width - 12)}`);
  const at = checkpoint.settledAt === null ? "" : `, ${when(checkpoint.settledAt)}`;
  const end =
    checkpoint.status === "pending"
      ? "Waiting for an answer."
      : checkpoint.status === "cancelled"
        ? `Cancelled${at}.`
        : `Answered${at}: ${jsonLine(checkpoint.answer, context.width - 40)}`;
  context.lines(hang(end, context.width, indent, indent));
}

/** Actions one by one; messages only when something is open or in doubt, else their number. */
function outside(context: Context, effects: readonly EffectSummary[]): void {
  if (effects.length === 0) return;
  context.heading("What was done outside");
  const quiet = effects.filter((effect) => effect.purpose !== "action" && effect.status === "applied");
  for (const effect of effects) {
    if (quiet.includes(effect)) continue;
    context.lines(
      hang(`${effect.shortId}  ${effectTitle(effect)}: ${certainty(effect)}`, context.width, "  ", "            "),
    );
  }
  if (quiet.length > 0) {
    context.line(`  ${quiet.length === 1 ? "1 message" : `${quiet.length} messages`} of the service: done, confirmed`);
  }
}

/** The lines of the stack that lie beside the workflow's file, at most three; else the first. */
function thrownAt({ error, workflowPath }: RunView): string[] {
  const stack = error?.details?.["stack"];
  if (typeof stack !== "string") return [];
  const frames = stack
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line.startsWith("at "));
  const own = frames.filter((frame) => frame.includes(`${dirname(workflowPath)}/`));
  return own.length > 0 ? own.slice(0, SHOWN_FRAMES) : frames.slice(0, 1);
}

/** The end of what a failed command wrote: its reason is nearly always there. */
function lastWords({ error }: RunView): string[] {
  return ["stderr", "stdout"].flatMap((stream) => {
    const text = error?.details?.[stream];
    if (typeof text !== "string" || text.trim() === "") return [];
    const lines = cleanLines(text.trimEnd()).slice(-SHOWN_LINES);
    return [`Its ${stream} ended with:`, ...lines.map((line) => `  ${line}`)];
  });
}

function colourOf(status: string): Paint {
  if (status === "completed") return "green";
  if (status === "failed" || status === "timed_out" || status === "ambiguous" || status === "parked") return "red";
  return "yellow";
}

/** A JSON value on one line, cut. */
export function jsonLine(value: JsonValue, width: number): string {
  return cutToColumns(clean(JSON.stringify(value)), width);
}
