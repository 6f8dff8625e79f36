/**
 * `holdpoint pause | resume | cancel | restart <run>`, `holdpoint answer <run|request> <json|text>`
 */
import type { CallOptions, OperationResult } from "../../client/index.ts";
import type { Context } from "../context.ts";
import { readAnswer } from "../input.ts";
import { wholeNumber } from "../values.ts";

type Options = Record<string, unknown>;

export async function pause(context: Context, args: string[], options: Options): Promise<void> {
  const run = args[0] ?? "";
  said(
    context,
    await context.withClient((client) => client.call("run.pause", { run }, expected(options))),
    "is paused; its questions stay open",
  );
}

export async function resume(context: Context, args: string[], options: Options): Promise<void> {
  const run = args[0] ?? "";
  said(context, await context.withClient((client) => client.call("run.resume", { run }, expected(options))), "goes on");
}

export async function cancel(context: Context, args: string[], options: Options): Promise<void> {
  const payload = { run: args[0] ?? "", reason: reasonOf(options) };
  said(
    context,
    await context.withClient((client) => client.call("run.cancel", payload, expected(options))),
    "is cancelled",
  );
}

export async function restart(context: Context, args: string[], options: Options): Promise<void> {
  const payload = { run: args[0] ?? "", reason: reasonOf(options) };
  const ack = await context.withClient((client) => client.call("run.restart", payload, expected(options)));
  context.result(ack);
  context.line(`Run ${ack.shortId} is the restart (status: ${ack.status}).`);
  context.line(`Look at it: holdpoint show ${ack.shortId}`);
}

export async function answer(context: Context, args: string[], options: Options): Promise<void> {
  const value = options["text"] === true ? (args[1] ?? "") : await readAnswer(args[1] ?? "", "the answer", context.io);
  const payload = { request: args[0] ?? "", answer: value };
  const ack = await context.withClient((client) => client.call("checkpoint.answer", payload, expected(options)));
  said(context, ack, "has its answer");
}

/** `--revision n` as the option of a call. */
export function expected(options: Options): CallOptions {
  const given = options["revision"];
  if (typeof given !== "string") return {};
  return { expectedRevision: wholeNumber(given, "--revision", 0, Number.MAX_SAFE_INTEGER) };
}

function reasonOf(options: Options): string | null {
  return typeof options["reason"] === "string" ? options["reason"] : null;
}

function said(context: Context, ack: OperationResult<"run.pause">, words: string): void {
  context.result(ack);
  context.line(`Run ${ack.shortId} ${words} (status: ${ack.status}).`);
}
