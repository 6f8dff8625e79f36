/** How agent steps are executed: described within bounds, handed to the host, and what is submitted judged. */
import { isAbsolute } from "node:path";
import { type AgentContract, longestStepText } from "../../contracts/agent-step.ts";
import { HoldpointError, messageOf, type ErrorRecord } from "../../contracts/errors.ts";
import { AGENT } from "../../contracts/limits.ts";
import type { AgentNode } from "../agent.ts";
import { timeoutOf } from "../definition.ts";
import { checkPrompt } from "../evidence.ts";
import { failureOf } from "./failures.ts";
import type { Validate } from "./host.ts";
import { jsonCandidates } from "./json-text.ts";
import { describe, failing, needed, outputOf, type Performance, type Performed } from "./performed.ts";
import { toJson } from "./values.ts";

export function performAgent(node: AgentNode, performance: Performance): Promise<Performed> {
  const { attempt, host, position, wait } = performance;
  const { nodeId, step, visit } = position;
  return failing(nodeId, async () => {
    const part = async <T>(given: T | ((context: never) => T | Promise<T>)): Promise<T> =>
      describe(performance, given, AGENT.describeMs);
    const prompt = text(await part(node.prompt), "prompt", nodeId);
    const detail = await part(node.statusDetail);
    const folder = folderOf(await part(node.cwd), nodeId);
    const contract = await contractOf(node, part, nodeId);
    checkPrompt(longestStepText({ contract, nodeId, prompt }), nodeId);
    const limit = await part(node.timeoutMs);
    if (limit !== undefined && limit !== null && !(Number.isSafeInteger(limit) && limit > 0)) {
      throw new HoldpointError(
        "nodeFailed",
        `The time limit of node "${nodeId}" is ${limit}; it is a whole number of milliseconds above 0, or null.`,
      );
    }
    needed(host, "runAgent", `Agent step "${nodeId}"`);
    await wait(host.barrier());
    const asked = {
      step,
      nodeId,
      visit,
      attempt: position.attempt ?? (position.interrupted ? 2 : 1),
      prompt,
      contract,
      allowedTools: node.allowedTools,
      timeoutMs: timeoutOf({ timeoutMs: limit }),
      statusDetail:
        detail === undefined ? undefined : text(detail, "statusDetail", nodeId).slice(0, AGENT.statusDetailChars),
      ...(folder === undefined ? {} : { cwd: folder }),
    };
    const work = host.runAgent?.(asked, validator(node, performance), attempt.signal);
    if (work === undefined) throw new Error("the host has lost a method");
    // Kept, so that nothing of the step runs any more when the run goes on after a stop.
    const done = await wait(attempt.keep(work));
    if (done.outcome === "parked") return { kind: "parked", reason: "interaction" };
    if (done.outcome === "ok") return outputOf({ kind: "returned", value: done.output }, nodeId, host.valueBytes);
    return { kind: done.outcome, error: bounded(done.error, nodeId) };
  });
}

/**
 * Judges what is submitted. JSON as text is taken apart first; a text that is no JSON as a whole is offered as it is, and
 * then what JSON stands in it. Without `validate` only JSON that is the whole text, or its one code block, is taken out.
 */
function validator(node: AgentNode, { attempt, host, position }: Performance): Validate {
  const { nodeId } = position;
  return async (submitted) => {
    if (attempt.over) return { ok: false, message: "This step is over; nothing can be submitted for it any more." };
    let first: string | undefined;
    for (const value of readings(submitted, node.validate !== undefined)) {
      const judged = await judge(value);
      if (judged.ok) return judged;
      first ??= judged.message;
    }
    return { ok: false, message: first ?? "Nothing was submitted." };
  };

  async function judge(value: unknown): ReturnType<Validate> {
    const { output, validate } = node;
    if (output.kind === "assistantMessage") return judgeText(value, output.maxChars);
    try {
      const check = (): unknown => (validate ? validate(value, attempt.context) : value);
      const called = await attempt.call(check, AGENT.describeMs, false);
      if (called.kind === "timedOut") return { ok: false, message: "Checking the result took too long." };
      if (called.kind === "threw") return { ok: false, message: messageOf(called.error).slice(0, 4_000) };
      return { ok: true, value: toJson(called.value, `The output of node "${nodeId}"`, host.valueBytes).value };
    } catch (error) {
      return { ok: false, message: messageOf(error).slice(0, 4_000) };
    }
  }
}

function* readings(submitted: unknown, validated: boolean): Generator {
  if (typeof submitted !== "string") return yield submitted;
  const [likeliest, ...others] = [...jsonCandidates(submitted)];
  const alone = likeliest !== undefined && (likeliest.from === "whole" || isOneFence(submitted));
  if (alone) yield likeliest.value;
  yield submitted;
  if (!validated) return;
  if (likeliest !== undefined && !alone) yield likeliest.value;
  for (const { value } of others) yield value;
}

/** Whether a text is one code block and nothing else. */
function isOneFence(submitted: string): boolean {
  const trimmed = submitted.trim();
  return trimmed.startsWith("```") && trimmed.endsWith("```") && trimmed.split("```").length === 3;
}

function judgeText(value: unknown, maxChars: number): Awaited<ReturnType<Validate>> {
  if (typeof value !== "string" || value.trim() === "") return { ok: false, message: "There is no visible text." };
  if (value.length > maxChars)
    return { ok: false, message: `The text has ${value.length} characters; the limit is ${maxChars}.` };
  return { ok: true, value };
}

async function contractOf(
  { output }: AgentNode,
  part: <T>(given: T | ((context: never) => T | Promise<T>)) => Promise<T>,
  nodeId: string,
): Promise<AgentContract> {
  if (output.kind === "assistantMessage") return output;
  const expectedOutput = text(await part(output.expectedOutput), "expectedOutput", nodeId);
  if (expectedOutput.length <= AGENT.expectedOutputChars) return { kind: "submit", expectedOutput };
  throw new HoldpointError(
    "promptTooLarge",
    `The expectedOutput of node "${nodeId}" has ${expectedOutput.length} characters; the limit is ${AGENT.expectedOutputChars}.`,
    { details: { node: nodeId, limit: AGENT.expectedOutputChars, seen: expectedOutput.length } },
  );
}

function text(value: unknown, part: string, nodeId: string): string {
  if (typeof value === "string") return value;
  throw new HoldpointError("nodeFailed", `The ${part} of node "${nodeId}" is ${typeof value}; it is text.`);
}

function folderOf(value: unknown, nodeId: string): string | undefined {
  if (value === undefined || (typeof value === "string" && isAbsolute(value))) return value;
  throw new HoldpointError("nodeFailed", `The cwd of node "${nodeId}" is ${String(value)}; it is an absolute path.`);
}

/** The host's record, its message bounded like any other. */
function bounded(error: ErrorRecord, nodeId: string): ErrorRecord {
  return error.message.length <= 8_192 ? error : failureOf(new Error(error.message), nodeId);
}
