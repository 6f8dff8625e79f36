/** How pure nodes and decisions are executed: the function is called; a decision's request is handed over. */
import { isHoldpointError } from "../../contracts/errors.ts";
import { WORKFLOW } from "../../contracts/limits.ts";
import { timeoutOf } from "../definition.ts";
import type { HumanDecisionNode } from "../human.ts";
import type { ComputeNode } from "../nodes.ts";
import type { Called } from "./attempt.ts";
import { failureOf } from "./failures.ts";
import { outputOf, type Performance, type Performed } from "./performed.ts";
import { toJson } from "./values.ts";

/** Compute nodes; not a promise when the function was not one. */
export function performCompute(
  node: ComputeNode,
  { attempt, position, wait }: Performance,
): Performed | Promise<Performed> {
  const called = attempt.call(() => node.run(attempt.context), timeoutOf(node));
  if (!(called instanceof Promise)) return outputOf(called, position.nodeId);
  return outputLater(wait(called), position.nodeId);
}

async function outputLater(called: Promise<Called>, nodeId: string): Promise<Performed> {
  return outputOf(await called, nodeId);
}

/** Human decisions. Their request only describes, so it has the default limit although the question has none. */
export async function performDecision(node: HumanDecisionNode, performance: Performance): Promise<Performed> {
  const { attempt, host, position, wait } = performance;
  const { nodeId, step, visit } = position;
  const called = await wait(Promise.resolve(attempt.call(() => node.request(attempt.context), WORKFLOW.nodeTimeoutMs)));
  if (called.kind !== "returned") return outputOf(called, nodeId);
  try {
    const authored = (called.value ?? {}) as Record<string, unknown>;
    const presentation = authored["presentation"];
    const { audience, choices, onTimeout } = node;
    const request = toJson(
      {
        ...authored,
        audience,
        choices: Object.entries(choices).map(([id, choice]) => ({ id, ...choice })),
        onTimeout,
        presentation:
          typeof presentation === "object" && presentation !== null
            ? { schema: "holdpoint.decision-presentation.v1", ...presentation }
            : presentation,
      },
      `The request of node "${nodeId}"`,
    ).value;
    await wait(host.barrier());
    const reply = await wait(host.requestDecision({ step, nodeId, visit, request }));
    if (reply.kind === "parked") return { kind: "parked", reason: "decision" };
    return outputOf({ kind: "returned", value: reply.output }, nodeId);
  } catch (error) {
    if (!isHoldpointError(error)) throw error;
    return { kind: "failed", error: failureOf(error, nodeId) };
  }
}
