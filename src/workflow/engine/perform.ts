/** How the nodes without effects of their own are executed: the pure ones, and those that hand something over. */
import { HoldpointError } from "../../contracts/errors.ts";
import { NOTIFY, WORKFLOW } from "../../contracts/limits.ts";
import { sleepWake } from "../../contracts/sleep.ts";
import type { CheckpointNode } from "../checkpoint.ts";
import { timeoutOf } from "../definition.ts";
import type { HumanDecisionNode } from "../human.ts";
import type { ComputeNode } from "../nodes.ts";
import type { NotifyNode } from "../notify.ts";
import type { SettingsRouteNode } from "../settings.ts";
import type { SleepNode } from "../sleep.ts";
import type { Called } from "./attempt.ts";
import { describe, failing, needed, outputOf, reading, type Performance, type Performed } from "./performed.ts";
import { toJson } from "./values.ts";

/** Compute nodes; not a promise when the function was not one. */
export function performCompute(
  node: ComputeNode,
  { attempt, host, position, wait }: Performance,
): Performed | Promise<Performed> {
  const called = attempt.call(() => node.run(attempt.context), timeoutOf(node));
  if (!(called instanceof Promise)) return outputOf(called, position.nodeId, host.valueBytes);
  return outputLater(wait(called), position.nodeId, host.valueBytes);
}

async function outputLater(called: Promise<Called>, nodeId: string, maxBytes?: number): Promise<Performed> {
  return outputOf(await called, nodeId, maxBytes);
}

/** Decides by settings: everything before is durable first, so that the settings cannot be older than what was done. */
export async function performSettingsRoute(node: SettingsRouteNode, performance: Performance): Promise<Performed> {
  const { attempt, host, position, wait } = performance;
  await wait(host.barrier());
  const called = await wait(Promise.resolve(attempt.call(() => node.run(attempt.context), timeoutOf(node))));
  return outputOf(called, position.nodeId, host.valueBytes);
}

/** Human decisions. Their request only describes, so it has the default limit although the question has none. */
export function performDecision(node: HumanDecisionNode, performance: Performance): Promise<Performed> {
  const { host, position, wait } = performance;
  const { nodeId, step, visit } = position;
  return failing(nodeId, async () => {
    const described: unknown = await describe(performance, node.request, WORKFLOW.nodeTimeoutMs);
    const authored = reading(nodeId, () => ({ ...(described as Record<string, unknown> | undefined) }));
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
            ? reading(nodeId, () => ({ schema: "holdpoint.decision-presentation.v1", ...presentation }))
            : presentation,
      },
      `The request of node "${nodeId}"`,
    ).value;
    await wait(host.barrier());
    const reply = await wait(host.requestDecision({ step, nodeId, visit, request }));
    if (reply.kind === "parked") return { kind: "parked", reason: "decision" };
    return outputOf({ kind: "returned", value: reply.output }, nodeId, host.valueBytes);
  });
}

/** Checkpoints: what is shown is made, then the run waits. */
export function performCheckpoint(node: CheckpointNode, performance: Performance): Promise<Performed> {
  const { host, position, wait } = performance;
  const { nodeId, step, visit } = position;
  return failing(nodeId, async () => {
    const content: unknown =
      node.run === undefined ? null : await describe(performance, node.run, WORKFLOW.nodeTimeoutMs);
    const summary: unknown = await describe(performance, node.summary, WORKFLOW.nodeTimeoutMs);
    if (summary !== undefined && typeof summary !== "string") throw notText("summary", nodeId, summary);
    const shown = toJson(content, `The content of node "${nodeId}"`, host.valueBytes).value;
    needed(host, "requestCheckpoint", `Checkpoint "${nodeId}"`);
    await wait(host.barrier());
    const asked = { step, nodeId, visit, content: shown, summary: summary?.slice(0, WORKFLOW.titleChars) };
    const reply = await wait(host.requestCheckpoint?.(asked) ?? never());
    if (reply.kind === "parked") return { kind: "parked", reason: "checkpoint" };
    return outputOf({ kind: "returned", value: reply.output }, nodeId, host.valueBytes);
  });
}

/** Sleeps: the time is made, then the run waits for it without a process. */
export function performSleep(node: SleepNode, performance: Performance): Promise<Performed> {
  const { host, position, wait } = performance;
  const { nodeId, step, visit } = position;
  return failing(nodeId, async () => {
    const value: unknown = await describe(performance, node.wake.value, WORKFLOW.nodeTimeoutMs);
    const reason: unknown = await describe(performance, node.reason, WORKFLOW.nodeTimeoutMs);
    if (reason !== undefined && typeof reason !== "string") throw notText("reason", nodeId, reason);
    const wake = sleepWake(node.wake.kind, value, `The sleep "${nodeId}"`);
    needed(host, "requestSleep", `Sleep "${nodeId}"`);
    await wait(host.barrier());
    const asked = { step, nodeId, visit, wake, reason: reason?.slice(0, WORKFLOW.titleChars) };
    const reply = await wait(host.requestSleep?.(asked) ?? never());
    if (reply.kind === "parked") return { kind: "parked", reason: "sleep" };
    return outputOf({ kind: "returned", value: reply.output }, nodeId, host.valueBytes);
  });
}

export function performNotify(node: NotifyNode, performance: Performance): Promise<Performed> {
  const { host, position, wait } = performance;
  const { nodeId, step, visit } = position;
  return failing(nodeId, async () => {
    const message: unknown = await describe(performance, node.message, WORKFLOW.nodeTimeoutMs);
    if (typeof message !== "string") throw notText("message", nodeId, message);
    if (message.length > NOTIFY.messageChars) {
      throw new HoldpointError(
        "nodeFailed",
        `The message of node "${nodeId}" has ${message.length} characters; the limit is ${NOTIFY.messageChars}.`,
        { details: { limit: NOTIFY.messageChars, seen: message.length } },
      );
    }
    const { format, ifConfigured, kind, severity, silent } = node;
    const audience: unknown = (await describe(performance, node.audience, WORKFLOW.nodeTimeoutMs)) ?? undefined;
    if (audience !== undefined && typeof audience !== "string") throw notText("audience", nodeId, audience);
    const groupKey: unknown = await describe(performance, node.groupKey, WORKFLOW.nodeTimeoutMs);
    if (groupKey !== undefined && typeof groupKey !== "string") throw notText("groupKey", nodeId, groupKey);
    const written = format === undefined ? {} : { format };
    needed(host, "notify", `Notification "${nodeId}"`);
    await wait(host.barrier());
    const asked = {
      step,
      nodeId,
      visit,
      kind,
      message,
      audience,
      ifConfigured,
      severity,
      groupKey,
      silent,
      ...written,
    };
    const stored = await wait(host.notify?.(asked) ?? never());
    return outputOf({ kind: "returned", value: { kind, message, index: stored.index } }, nodeId);
  });
}

function notText(part: string, nodeId: string, seen: unknown): HoldpointError {
  return new HoldpointError("nodeFailed", `The ${part} of node "${nodeId}" is ${typeof seen}; it is text.`);
}

/** For the checker only: what comes before has made sure that the method is there. */
function never(): Promise<never> {
  return Promise.reject(new Error("the host has lost a method"));
}
