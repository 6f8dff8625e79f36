/** A managed resource as people read it: what is wanted, what was found, what was done for it, and what comes next. */
import type { ResourceDetail, ResourceSummary } from "../contracts/protocol/resource-operations.ts";
import { shortRunId } from "../contracts/ids.ts";
import { jsonLine } from "./commands/show.ts";
import type { Context } from "./context.ts";
import { clean, cutToColumns, hang } from "./layout.ts";
import { clockTime, duration, when } from "./times.ts";

const YES_NO = { true: "yes", false: "no", unknown: "?" } as const;
const REASON_COLUMNS = 24;

/** `yes`, `no: HeadChanged`, `-` for a manager that says nothing about it. */
export function readyWord({ ready, readyReason }: Pick<ResourceSummary, "ready" | "readyReason">): string {
  if (ready === null) return "-";
  const reason =
    ready === "true" || readyReason === null ? "" : `: ${cutToColumns(clean(readyReason), REASON_COLUMNS)}`;
  return `${YES_NO[ready]}${reason}`;
}

/** When the next pass is, in a few words. */
export function nextPass(
  {
    deletionAt,
    failures,
    nextAt,
    reconciling,
  }: Pick<ResourceSummary, "deletionAt" | "failures" | "nextAt" | "reconciling">,
  now: number,
): string {
  const deleting = deletionAt === null ? "" : "deleting, ";
  if (reconciling) return `${deleting}now`;
  if (nextAt === null) return `${deleting}when asked`;
  const wait = nextAt <= now ? "at once" : `in ${duration(nextAt - now)}`;
  return failures === 0 ? `${deleting}${wait}` : `${deleting}${wait}, failed ${failures}×`;
}

/** Prints everything about one resource. */
export function tellResource(context: Context, detail: ResourceDetail): void {
  const { metadata, spec, status } = detail.resource;
  head(context, detail);
  context.heading("Wanted");
  context.line(`  ${jsonLine(spec, context.width - 2)}`);
  context.heading("Found");
  for (const { lastTransitionTime, message, observedGeneration, reason, status: holds, type } of status.conditions) {
    const stale = observedGeneration < metadata.generation ? `, for generation ${observedGeneration}` : "";
    const text = message === undefined ? "" : ` (${message})`;
    const since = when(Date.parse(lastTransitionTime));
    add(context, `${type} ${YES_NO[String(holds) as keyof typeof YES_NO]}: ${reason}${text}, since ${since}${stale}`);
  }
  context.line(`  ${jsonLine(status.resourceManagerStatus, context.width - 2)}`);
  effects(context, detail);
  children(context, detail);
  if (detail.events.length > 0) {
    context.heading("Recent events");
    for (const { at, payload, type } of detail.events.slice(0, 12).toReversed())
      context.line(
        cutToColumns(`  ${context.paint("dim", clockTime(at))}  ${type}  ${clean(brief(payload))}`, context.width),
      );
  }
  context.heading("What comes next");
  for (const line of next(detail)) add(context, line);
}

function head(context: Context, detail: ResourceDetail): void {
  const { metadata } = detail.resource;
  const name = `${metadata.resourceManager} · ${clean(metadata.key)}`;
  context.line(`${context.paint("bold", cutToColumns(name, context.width - 18))}  generation ${metadata.generation}`);
  const { lastPass } = detail;
  if (lastPass === null) context.line("No pass yet.");
  else {
    const failed = lastPass.outcome === "failed";
    const took = `${when(lastPass.at)}, took ${duration(lastPass.durationMs)}`;
    context.line(`${context.paint(failed ? "red" : "green", `Last pass ${wordOf(lastPass.outcome)}`)} · ${took}`);
    if (lastPass.error !== null) {
      context.lines(hang(`${clean(lastPass.error.message)} (${lastPass.error.code})`, context.width, "  ", "  "));
      context.lines(hang(`To do: ${clean(lastPass.error.remedy)}`, context.width, "  ", "  "));
    }
  }
  if (metadata.deletionTimestamp !== undefined) {
    const waits = metadata.finalizers.length === 0 ? "" : `; waits for ${metadata.finalizers.join(", ")}`;
    add(context, `Deletion asked for ${when(Date.parse(metadata.deletionTimestamp))}${waits}`);
  }
  context.line(context.paint("dim", cutToColumns(`${metadata.uid} · ${clean(detail.source)}`, context.width)));
}

const OUTCOME_WORDS = {
  settled: "settled",
  requeue: "wants another",
  requeueAfter: "wants another later",
  failed: "failed",
} as const;

function wordOf(outcome: keyof typeof OUTCOME_WORDS): string {
  return OUTCOME_WORDS[outcome];
}

function effects(context: Context, detail: ResourceDetail): void {
  if (detail.effects.length === 0) return;
  context.heading("What was done outside");
  for (const { completedAt, effectId, error, externalRef, key, kind, startedAt, state } of detail.effects) {
    const as = externalRef === undefined ? "" : ` as ${externalRef}`;
    const why = error === undefined ? "" : ` (${error})`;
    const at = when(Date.parse(completedAt ?? startedAt));
    add(context, `${kind} ${key}: ${state}${as}${why}, ${at}`);
    if (state === "indeterminate")
      add(context, `  If nobody can tell: holdpoint effect settle ${shortEffect(effectId)} applied|notApplied|retry`);
  }
}

/** As the server shortens ids: the kind's letter and six characters of the hash. */
function shortEffect(effectId: string): string {
  return `e-${effectId.slice(effectId.lastIndexOf("-") + 1).slice(0, 6)}`;
}

function children(context: Context, detail: ResourceDetail): void {
  if (detail.children.length === 0) return;
  context.heading("Child workflows");
  for (const { attempts, error, requestKey, runId, state, workflow } of detail.children) {
    const why = error === null ? "" : `: ${error.message}`;
    const launches = attempts > 1 ? `, launch ${attempts}` : "";
    add(context, `${shortRunId(runId)}  ${workflow}, ${requestKey}: ${state}${launches}${why}`);
  }
}

function next({ queue, resource }: ResourceDetail): string[] {
  const waiting = resource.status.workflowRun;
  const lines: string[] = [];
  if (waiting?.state === "waiting" && waiting.runId !== undefined)
    lines.push(`Its run ${shortRunId(waiting.runId)} waits: holdpoint show ${shortRunId(waiting.runId)}`);
  if (queue === null) lines.push("A pass when something asks: a new spec, an event, the end of a child run.");
  else if (queue.reconciling) lines.push("A pass goes on now.");
  else {
    const failed =
      queue.failures === 0 ? "" : `, after ${queue.failures} ${queue.failures === 1 ? "failure" : "failures"}`;
    lines.push(`A pass ${when(queue.availableAt)} (${queue.reason}${failed}).`);
  }
  return lines;
}

function brief(payload: unknown): string {
  if (typeof payload !== "object" || payload === null) return String(payload);
  return Object.entries(payload)
    .filter(([name]) => !["effectId", "shortId", "sourcesDigest", "statusBytes"].includes(name))
    .map(([name, value]) => `${name} ${typeof value === "string" ? value : JSON.stringify(value)}`)
    .join(", ");
}

function add(context: Context, text: string): void {
  context.lines(hang(clean(text), context.width, "  ", "    "));
}
