/**
 * `holdpoint decisions`: what waits for a person, where it was shown, and what happens without an answer.
 */
import type { DecisionSummary } from "../../client/index.ts";
import type { Context } from "../context.ts";
import { clean, hang } from "../layout.ts";
import { deadlineLine, destinationLines, policyLines, resolutionLine } from "../story.ts";

export async function decisions(context: Context, _args: string[], options: Record<string, unknown>): Promise<void> {
  const all = options["all"] === true;
  const list = await context.withClient((client) => client.call("decision.list", { all }));
  context.result(list);
  if (list.decisions.length === 0) {
    context.line(all ? "No decisions yet." : "Nothing waits for a decision. (--all shows those that were decided.)");
    return;
  }
  for (const [i, decision] of list.decisions.entries()) {
    if (i > 0) context.line();
    one(context, decision);
  }
}

function one(context: Context, decision: DecisionSummary): void {
  const add = (text: string): void => context.lines(hang(clean(text), context.width, "  ", "    "));
  const title = `${decision.fingerprint}  ${clean(decision.title)}`;
  const [first = "", ...rest] = hang(title, context.width, "", " ".repeat(8));
  context.line(context.paint("bold", first));
  context.lines(rest);
  add(`${decision.workflow} · run ${decision.runShortId} · audience ${decision.audience}`);
  add(resolutionLine(decision));
  if (decision.status === "pending") add(deadlineLine(decision));
  for (const line of policyLines(decision)) add(line);
  for (const line of destinationLines(decision)) add(line);
  for (const note of decision.notes) add(`Note: ${note}`);
}
