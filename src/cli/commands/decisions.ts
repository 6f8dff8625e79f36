/**
 * `holdpoint decisions`: what waits for a person, where it was shown, and what happens without an answer; or one decision whole.
 */
import { renderTerminalCard } from "../../../renderers/terminal/index.ts";
import type { DecisionSummary } from "../../client/index.ts";
import type { Context } from "../context.ts";
import { clean, hang } from "../layout.ts";
import { deadlineLine, destinationLines, policyLines, resolutionLine } from "../story.ts";

export async function decisions(context: Context, args: string[], options: Record<string, unknown>): Promise<void> {
  const [decision] = args;
  if (decision !== undefined) return whole(context, decision);
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

/** One decision as a card, also what is kept out of chats. */
async function whole(context: Context, decision: string): Promise<void> {
  const shown = await context.withClient((client) => client.call("decision.show", { decision }));
  context.result(shown);
  const { card, state } = shown;
  const options = { columns: context.width, plain: context.plain, now: Date.now(), nameZone: true };
  context.lines(renderTerminalCard(card, state, options));
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
