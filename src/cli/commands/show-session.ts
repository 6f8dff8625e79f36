/** `holdpoint show <run> --session`: what happened in the run's Pi session, read page by page as it was recorded. */
import { capturedLine, recordedLine } from "../../../renderers/text/en/recorded.ts";
import { PI_CAPTURE } from "../../contracts/limits.ts";
import type { Context } from "../context.ts";
import { cutToColumns, hang } from "../layout.ts";
import { clockTime } from "../times.ts";

/** Lines of one entry; the rest is in `--json`. */
const LINES = 4;

export async function showSession(context: Context, run: string): Promise<void> {
  await context.withClient(async (client) => {
    const page = (after: number) => client.call("run.session", { run, after, limit: PI_CAPTURE.pageRecords });
    const first = await page(0);
    const all = [...first.records];
    for (let { more } = first; more && all.length > 0;) {
      const next = await page(all.at(-1)?.no ?? 0);
      all.push(...next.records);
      more = next.more && next.records.length > 0;
    }
    const { captures, runId, shortId } = first;
    context.result({ runId, shortId, captures, records: all });
    context.line(capturedLine(captures));
    for (const record of all) {
      const line = recordedLine(record);
      if (line === null) continue;
      const text = `${line.who.padEnd(6)} ${cutToColumns(line.text, (context.width - 20) * LINES)}`;
      context.lines(hang(text, context.width, `  ${context.paint("dim", clockTime(record.at))}  `, " ".repeat(19)));
    }
  });
}
