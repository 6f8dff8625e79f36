/** `runCommandBatch`: several commands inside one action, a few at a time, with one bounded result for each. */
import { HoldpointError, messageOf } from "../contracts/errors.ts";
import { BATCH } from "../contracts/limits.ts";
import type { ActionContext, CommandOptions } from "./context.ts";

export type BatchKind = "review" | "ciWatch" | "verification";
export type BatchOutcome = "succeeded" | "failed" | "timedOut" | "cancelled";

export type BatchItem = CommandOptions & {
  /** `[A-Za-z0-9][A-Za-z0-9._:-]*`, at most 64 characters, different from the others. */
  readonly id: string;
};

export interface BatchItemResult {
  readonly itemId: string;
  readonly outcome: BatchOutcome;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly truncated: readonly ("stdout" | "stderr")[];
  readonly durationMs: number;
  /** Why it did not succeed, at most 2,000 characters. */
  readonly error?: string;
}

export interface BatchResult {
  readonly schema: "holdpoint.command-batch-result.v1";
  readonly batchKind: BatchKind;
  /** In the order in which they were given. */
  readonly items: readonly BatchItemResult[];
  readonly succeeded: number;
  readonly total: number;
}

const ITEM_ID = /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/;

/**
 * Runs commands and waits for all of them. One that fails keeps its output and stops nobody. When the total time is over,
 * what runs is stopped (`timedOut`) and what has not begun is `cancelled`.
 *
 * With `updates`, an update `command-batch.item` for each finished item; updates only inform, a refused one is dropped.
 *
 * @example
 * const verify = action({
 *   effect: idempotentEffect("verify"),
 *   run: (context) =>
 *     runCommandBatch(context, {
 *       batchKind: "verification",
 *       items: [{ id: "types", command: "npm", args: ["run", "types"] }, { id: "tests", command: "npm", args: ["test"] }],
 *     }),
 * });
 * @throws HoldpointError `nodeFailed` for more than 64 items, wrong or repeated ids, or limits beyond the greatest.
 */
export async function runCommandBatch(
  context: Pick<ActionContext, "runCommand" | "publishUpdate" | "signal">,
  options: {
    readonly batchKind: BatchKind;
    readonly items: readonly BatchItem[];
    /** At the same time; default and most 8. */
    readonly concurrency?: number;
    /** For all together, in milliseconds; default and most 60 minutes. */
    readonly timeoutMs?: number;
    readonly updates?: boolean;
    /** Milliseconds of a monotonic clock. */
    readonly now?: () => number;
  },
): Promise<BatchResult> {
  const {
    batchKind,
    concurrency = BATCH.concurrency,
    items,
    now = () => performance.now(),
    timeoutMs = BATCH.totalMs,
  } = options;
  check(items, concurrency, timeoutMs);
  const began = now();
  const results: BatchItemResult[] = [];
  let next = 0;
  let completed = 0;
  const work = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      const rest = timeoutMs - (now() - began);
      const result = await runItem(context, items[index] as BatchItem, rest);
      results[index] = result;
      completed++;
      if (options.updates === true) await tell(context, batchKind, result, completed, items.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  return {
    schema: "holdpoint.command-batch-result.v1",
    batchKind,
    items: results,
    succeeded: results.filter(({ outcome }) => outcome === "succeeded").length,
    total: items.length,
  };
}

async function runItem(
  context: Pick<ActionContext, "runCommand" | "signal">,
  { id: itemId, ...command }: BatchItem,
  restMs: number,
): Promise<BatchItemResult> {
  const empty = { itemId, exitCode: null, signal: null, stdout: "", stderr: "", truncated: [], durationMs: 0 };
  if (context.signal.aborted) return { ...empty, outcome: "cancelled", error: "The node was stopped before it began." };
  if (restMs <= 0) return { ...empty, outcome: "cancelled", error: "The time of the batch was over before it began." };
  const limit = Math.max(1, Math.floor(Math.min(command.timeoutMs ?? restMs, restMs)));
  const maxOutputChars = Math.min(command.maxOutputChars ?? BATCH.outputChars, BATCH.outputChars);
  try {
    const { startError, timedOut, ...rest } = await context.runCommand({
      ...command,
      timeoutMs: limit,
      maxOutputChars,
    });
    const result = { itemId, ...rest };
    if (timedOut) return { ...result, outcome: "timedOut", error: `It ran longer than ${limit} ms.` };
    if (context.signal.aborted) return { ...result, outcome: "cancelled", error: "The node was stopped." };
    if (startError !== undefined) return { ...result, outcome: "failed", error: bound(startError) };
    if (result.exitCode === 0) return { ...result, outcome: "succeeded" };
    const why =
      result.signal === null ? `It ended with exit code ${result.exitCode}.` : `Signal ${result.signal} ended it.`;
    return { ...result, outcome: "failed", error: why };
  } catch (error) {
    const stopped = context.signal.aborted;
    return {
      ...empty,
      outcome: stopped ? "cancelled" : "failed",
      error: bound(messageOf(error)),
    };
  }
}

async function tell(
  context: Pick<ActionContext, "publishUpdate">,
  batchKind: BatchKind,
  { itemId, outcome }: BatchItemResult,
  completed: number,
  total: number,
): Promise<void> {
  const data = { schema: "holdpoint.command-batch-item.v1", batchKind, itemId, outcome, completed, total };
  await context.publishUpdate({ type: "command-batch.item", key: itemId, data }).catch(() => undefined);
}

function check(items: readonly BatchItem[], concurrency: number, timeoutMs: number): void {
  const wrong = (text: string): never => {
    throw new HoldpointError("nodeFailed", `runCommandBatch ${text}.`);
  };
  if (items.length > BATCH.items) wrong(`has ${items.length} items; the limit is ${BATCH.items}`);
  const whole = (value: number, limit: number): boolean => Number.isSafeInteger(value) && value >= 1 && value <= limit;
  if (!whole(concurrency, BATCH.concurrency)) wrong(`has concurrency ${concurrency}; it is 1 to ${BATCH.concurrency}`);
  if (!whole(timeoutMs, BATCH.totalMs)) wrong(`has timeoutMs ${timeoutMs}; it is 1 to ${BATCH.totalMs}`);
  const seen = new Set<string>();
  for (const { id } of items) {
    if (!ITEM_ID.test(id)) wrong(`has the item id ${JSON.stringify(id)}, which is not ${ITEM_ID.source}`);
    if (seen.has(id)) wrong(`has two items "${id}"`);
    seen.add(id);
  }
}

function bound(text: string): string {
  return text.length <= BATCH.errorChars
    ? text
    : `${text.slice(0, BATCH.errorChars - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
