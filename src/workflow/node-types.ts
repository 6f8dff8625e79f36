/** What all nodes share: the types they carry for the checker, and the check of their functions. */
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
