/**
 * `holdpoint updates <run>`: what a run says about itself. `holdpoint output <run> [node]`: one value, whole.
 */
import { createHash } from "node:crypto";
import type { HoldpointClient, OperationResult } from "../../client/index.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { Context } from "../context.ts";
import { clean, hang } from "../layout.ts";
import { progressLine } from "../progress.ts";
import { clockTime } from "../times.ts";
import { jsonLine } from "./show.ts";

type Page = OperationResult<"run.updates">;

/** Updates in one answer of the server. */
const PAGE_ROWS = 256;

export async function updates(context: Context, args: string[]): Promise<void> {
  const run = args[0] ?? "";
  const page = await context.withClient((client) => everything(client, run));
  context.result(page);
  if (page.progress.length > 0) {
    context.line(context.paint("bold", "Progress"));
    for (const progress of page.progress) context.lines(hang(progressLine(progress), context.width, "  ", "    "));
  }
  const others = page.updates.filter(({ type }) => type !== "progress");
  for (const { at, data, key, nodeId, type } of others) {
    const text = `${clean(nodeId)} ${clean(type)} ${clean(key)}: ${jsonLine(data, context.width * 4)}`;
    context.lines(hang(text, context.width, `  ${context.paint("dim", clockTime(at))}  `, " ".repeat(12)));
  }
  if (page.published === 0) context.line("This run has not told anything about itself.");
  else if (others.length === 0 && page.progress.length === 0) context.line("Nothing of it is current.");
}

/** All pages of the current updates; they are bounded by what a run may have. */
async function everything(client: HoldpointClient, run: string): Promise<Page> {
  let page = await client.call("run.updates", { run, after: -1, limit: PAGE_ROWS });
  const all = [...page.updates];
  while (page.more) {
    page = await client.call("run.updates", { run, after: all.at(-1)?.seq ?? -1, limit: PAGE_ROWS });
    if (page.updates.length === 0) break;
    all.push(...page.updates);
  }
  return { ...page, updates: all, more: false };
}

export async function output(context: Context, args: string[]): Promise<void> {
  const [run = "", node = null] = args;
  const text = await context.withClient((client) => outputText(client, run, node));
  context.result(JSON.parse(text) as JsonValue);
  context.line(text);
}

async function outputText(client: HoldpointClient, run: string, node: string | null): Promise<string> {
  const hash = createHash("sha256");
  const parts: Buffer[] = [];
  for (let offset = 0; ;) {
    const { bytes, data, sha256 } = await client.call("run.output", { run, node, offset });
    const part = Buffer.from(data, "base64");
    hash.update(part);
    parts.push(part);
    offset += part.length;
    if (offset < bytes && part.length > 0) continue;
    if (hash.digest("hex") === sha256) return Buffer.concat(parts).toString("utf8");
    throw new HoldpointError("contentInvalid", "The output changed while it was being read.", {
      remedy: "Run the command again.",
    });
  }
}
