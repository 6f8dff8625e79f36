/**
 * How an error is shown: what happened, why, what to do, with its code. People get it on stderr, `--json` on stdout.
 */
import { HoldpointError, isHoldpointError } from "../contracts/errors.ts";
import type { Context } from "./context.ts";
import { exitCodeOf } from "./exit-codes.ts";
import { clean, cleanLines, hang } from "./layout.ts";

/** Shows an error and returns the exit code. */
export function showFault(context: Context, thrown: unknown): number {
  const error = asHoldpointError(thrown);
  if (context.json) context.failure(error.toRecord());
  else for (const line of faultLines(context, error)) context.io.err(`${line}\n`);
  return exitCodeOf(error);
}

function faultLines(context: Context, error: HoldpointError): string[] {
  const label = (text: string): string => context.paint("bold", text);
  const [first = "", ...more] = cleanLines(error.message);
  const lines = hang(`${first} (${error.code})`, context.width, "", "  ");
  for (const line of more) lines.push(...hang(line, context.width, "  ", "  "));
  const cause = causeOf(error);
  if (cause !== undefined) lines.push(...hang(cause, context.width, `${label("Why:")} `, "  "));
  lines.push(...hang(clean(error.remedy), context.width, `${label("To do:")} `, "  "));
  lines[0] = context.paint("red", lines[0] ?? "");
  return lines;
}

/** What lies below the error, when the message does not say it already. */
function causeOf(error: HoldpointError): string | undefined {
  if (!(error.cause instanceof Error)) return undefined;
  const text = clean(error.cause.message);
  return error.message.includes(text) ? undefined : text;
}

function asHoldpointError(thrown: unknown): HoldpointError {
  if (isHoldpointError(thrown)) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const where = thrown instanceof Error ? thrown.stack?.split("\n")[1]?.trim() : undefined;
  return new HoldpointError("internal", `${message}${where === undefined ? "" : ` (${where})`}`);
}
