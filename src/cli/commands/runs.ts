/**
 * `holdpoint runs`: the list of runs, newest first.
 */
import type { Context } from "../context.ts";
import { clean, table } from "../layout.ts";
import { statusWord } from "../story.ts";
import { shortWhen, when } from "../times.ts";
import { wholeNumber } from "../values.ts";

export async function runs(context: Context, _args: string[], options: Record<string, unknown>): Promise<void> {
  const limit = wholeNumber(String(options["limit"]), "--limit", 1, 256);
  const list = await context.withClient((client) => client.call("run.list", { limit, before: null }));
  context.result(list);
  if (list.runs.length === 0) {
    context.line("No runs yet. Start one: holdpoint run <name|path>");
    return;
  }
  const rows = list.runs.map((run) => [
    run.shortId,
    run.wakeAt === null
      ? statusWord(run.status)
      : `${statusWord(run.status)} until ${shortWhen(run.wakeAt, Date.now())}`,
    clean(run.title === null ? run.workflow : `${run.workflow}: ${run.title}`),
    when(run.createdAt),
  ]);
  const columns = [{ title: "run" }, { title: "status" }, { title: "what", flexible: true }, { title: "started" }];
  context.lines(table(columns, rows, context.width));
  if (list.more) context.line(`Older ones are left out; --limit ${Math.min(256, limit * 2)} shows more.`);
}
