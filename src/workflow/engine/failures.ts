/** What authored code threw, as a record that can travel: bounded, well-formed, with the stack for the author. */
import {
  HoldpointError,
  isHoldpointError,
  messageOf,
  stackOf,
  toErrorRecord,
  type ErrorRecord,
} from "../../contracts/errors.ts";
import { VALUE } from "../../contracts/limits.ts";
import { toJson } from "./values.ts";

/** The record of a node's failure. Errors of ours keep their kind; others are `nodeFailed`. */
export function failureOf(thrown: unknown, nodeId: string): ErrorRecord {
  if (isHoldpointError(thrown)) {
    const { details, ...record } = toErrorRecord(thrown);
    const bounded = { ...record, message: bound(record.message) };
    return details === undefined ? bounded : { ...bounded, ...kept(details) };
  }
  const message = bound(`Node "${nodeId}" failed: ${messageOf(thrown)}`);
  const stack = stackOf(thrown);
  const details = stack === undefined ? { node: nodeId } : { node: nodeId, stack: bound(stack) };
  return new HoldpointError("nodeFailed", message, { details }).toRecord();
}

/** The record of a node that ran too long. */
export function timedOut(nodeId: string, timeoutMs: number): HoldpointError {
  return new HoldpointError("nodeTimedOut", `Node "${nodeId}" ran longer than its timeout of ${timeoutMs} ms.`, {
    details: { node: nodeId, limit: timeoutMs },
  });
}

function bound(text: string): string {
  const wellFormed = (text as unknown as { toWellFormed(): string }).toWellFormed();
  if (wellFormed.length <= VALUE.errorChars) return wellFormed;
  return `${wellFormed.slice(0, VALUE.errorChars - 1).replace(/[\ud800-\udbff]$/, "")}\u2026`;
}

/** Details that are JSON and small; others are dropped rather than letting them spoil the record. */
function kept(details: unknown): { details: Record<string, unknown> } | Record<string, never> {
  try {
    const { bytes, value } = toJson(details, "details");
    return bytes <= VALUE.errorChars * 2 ? { details: value as Record<string, unknown> } : {};
  } catch {
    return {};
  }
}
