/**
 * `holdpoint pause | resume | cancel <run>`
 */
import type { OperationResult } from "../../client/index.ts";
import type { Context } from "../context.ts";

export async function pause(context: Context, args: string[]): Promise<void> {
  const run = args[0] ?? "";
  said(
    context,
    await context.withClient((client) => client.call("run.pause", { run })),
    "is paused; its questions stay open",
  );
}

export async function resume(context: Context, args: string[]): Promise<void> {
  const run = args[0] ?? "";
  said(context, await context.withClient((client) => client.call("run.resume", { run })), "goes on");
}

export async function cancel(context: Context, args: string[], options: Record<string, unknown>): Promise<void> {
  const run = args[0] ?? "";
  const reason = typeof options["reason"] === "string" ? options["reason"] : null;
  said(context, await context.withClient((client) => client.call("run.cancel", { run, reason })), "is cancelled");
}

function said(context: Context, ack: OperationResult<"run.pause">, words: string): void {
  context.result(ack);
  context.line(`Run ${ack.shortId} ${words} (status: ${ack.status}).`);
}
