/** What all nodes share: the types they carry for the checker, and the checks of their parts. */
import { HoldpointError } from "../contracts/errors.ts";

declare const types: unique symbol;

/** Exists only for the type checker: what a node needs and what it produces. */
export interface NodeTypes<Input, Outputs extends object, Output> {
  readonly [types]?: {
    readonly needs: (context: { input: Input; outputs: Partial<Outputs> }) => void;
    readonly output: Output;
  };
}

/** Throws `workflowInvalid` unless a part of a node is a function. */
export function checkFunction(value: unknown, node: string, name: string): void {
  if (typeof value === "function") return;
  throw new HoldpointError(
    "workflowInvalid",
    `A node of type ${node} needs a function ${name}; it is ${typeof value}.`,
  );
}

/** A time limit in whole milliseconds, null for none, undefined for the default. Throws `workflowInvalid` otherwise. */
export function checkTimeout(timeoutMs: number | null | undefined): number | null | undefined {
  if (timeoutMs === undefined || timeoutMs === null) return timeoutMs;
  if (Number.isSafeInteger(timeoutMs) && timeoutMs > 0) return timeoutMs;
  throw new HoldpointError(
    "workflowInvalid",
    `timeoutMs is ${timeoutMs}; it is a whole number of milliseconds above 0, or null.`,
  );
}
