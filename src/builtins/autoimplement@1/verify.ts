/** Verification in the workspace: the given commands, one after the other, with the end of what each wrote. */
import { runCommandBatch, type ActionContext, type BatchItem, type BatchItemResult } from "holdpoint";
import type { Check, Input, Verification, VerifyCommand } from "./input.ts";

/** Of one command's output; what went wrong stands at its end. */
const OUTPUT_CHARS = 4_000;

/** Runs all commands, also after one has failed: a repair should see everything that is wrong. */
export async function verifyWork(context: ActionContext<Input>, folder: string): Promise<Verification> {
  const { verify, verifyMinutes } = context.input;
  const result = await runCommandBatch(context, {
    batchKind: "verification",
    items: verify.map((command, index) => itemOf(command, index, folder)),
    concurrency: 1,
    timeoutMs: verifyMinutes * 60_000,
    updates: true,
  });
  return { passed: result.succeeded === result.total, checks: result.items.map(checkOf) };
}

function itemOf(given: VerifyCommand, index: number, cwd: string): BatchItem {
  const id = `check-${index + 1}`;
  if (typeof given === "string") return { id, command: "/bin/sh", args: ["-c", given], cwd };
  return { id: given.id ?? id, command: given.command, args: given.args, cwd };
}

function checkOf({ error, exitCode, itemId, outcome, stderr, stdout }: BatchItemResult): Check {
  const written = [stdout, stderr, outcome === "failed" && exitCode !== null ? "" : (error ?? "")];
  const output = written
    .filter((text) => text.trim() !== "")
    .join("\n")
    .trim();
  return { id: itemId, outcome, exitCode, output: output.slice(-OUTPUT_CHARS) };
}
