/**
 * `holdpoint effect list | show | settle`: what was done outside, and what only a person can know about it.
 */
import type { EffectDetail, EffectSummary } from "../../client/index.ts";
import { shortRunId } from "../../contracts/ids.ts";
import { usage, type Context } from "../context.ts";
import { readJson } from "../input.ts";
import { clean, hang, table } from "../layout.ts";
import { certainty, effectTitle } from "../story.ts";
import { when } from "../times.ts";
import { oneOf } from "../values.ts";
import { jsonLine } from "./show.ts";

const OUTCOMES = ["applied", "notApplied", "retry"] as const;

export async function effectList(context: Context, _args: string[], options: Record<string, unknown>): Promise<void> {
  const all = options["all"] === true;
  const list = await context.withClient((client) => client.call("effect.list", { all }));
  context.result(list);
  if (list.effects.length === 0) {
    context.line(all ? "No effects yet." : "Nothing needs you. (--all shows everything that was done outside.)");
    return;
  }
  const rows = list.effects.map((effect) => [
    effect.shortId,
    effect.status,
    effect.runId === null ? "" : shortRunId(effect.runId),
    effectTitle(effect),
    when(effect.createdAt),
  ]);
  // Two runs of one workflow have effects of the same name: whoever settles one must see whose it is.
  const columns = [
    { title: "effect" },
    { title: "status" },
    { title: "run" },
    { title: "what", flexible: true },
    { title: "since" },
  ];
  context.lines(table(columns, rows, context.width));
  settleHints(context, list.effects);
}

export async function effectShow(context: Context, args: string[]): Promise<void> {
  const detail = await context.withClient((client) => client.call("effect.show", { effect: args[0] ?? "" }));
  context.result(detail);
  if (!context.json) tell(context, detail);
}

export async function effectSettle(context: Context, args: string[], options: Record<string, unknown>): Promise<void> {
  const outcome = oneOf(args[1] ?? "", OUTCOMES, "outcome");
  const given = options["result"];
  if (given !== undefined && outcome !== "applied") {
    throw usage(`--result belongs to "applied"; the outcome given is "${outcome}".`);
  }
  const result = typeof given === "string" ? await readJson(given, "--result", context.io) : null;
  const payload = { effect: args[0] ?? "", outcome, result };
  const effect = await context.withClient((client) => client.call("effect.settle", payload));
  context.result(effect);
  context.line(`Effect ${effect.shortId} (${effectTitle(effect)}): ${certainty(effect)}.`);
}

function tell(context: Context, effect: EffectDetail): void {
  const add = (text: string): void => context.lines(hang(text, context.width, "  ", "    "));
  context.line(context.paint("bold", `${effect.shortId}  ${effectTitle(effect)}`));
  add(certainty(effect));
  add(`Id: ${effect.effectId}`);
  if (effect.runId !== null) add(`Run: ${effect.runId}`);
  add(`Request: ${jsonLine(effect.request, context.width - 12)}`);
  if (effect.result !== null) add(`Result: ${jsonLine(effect.result, context.width - 12)}`);
  for (const attempt of effect.attemptList) {
    const error = attempt.error === null ? "" : `: ${clean(attempt.error.message)}`;
    add(`Attempt ${attempt.attempt}, ${when(attempt.startedAt)}: ${attempt.state}${error}`);
  }
  for (const part of effect.parts) {
    add(
      `Part ${part.part}/${part.of} of attempt ${part.attempt}: ${part.state}${part.reference === null ? "" : ` as ${clean(part.reference)}`}`,
    );
  }
  settleHints(context, [effect]);
}

function settleHints(context: Context, effects: readonly EffectSummary[]): void {
  for (const effect of effects) {
    if (effect.settleWith !== null)
      context.lines(hang(`${effect.shortId}: ${clean(effect.settleWith)}`, context.width, "To settle ", "  "));
  }
}
