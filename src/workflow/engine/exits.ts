/** Exit contracts: what a workflow gives through an exit is checked before anybody sees it. */
import { HoldpointError, messageOf } from "../../contracts/errors.ts";
import type { CompiledNode } from "../compile.ts";
import { outputOf, type Performed } from "./performed.ts";

/**
 * The output of a node that leaves, as its exits accept it: innermost first, each sees what the one before made. One that
 * throws or returns false fails the node.
 */
export async function checkExit(
  { exitChecks = [], path }: CompiledNode,
  performed: Extract<Performed, { kind: "ok" }>,
  maxBytes: number | undefined,
): Promise<Exclude<Performed, { kind: "parked" }>> {
  let checked: Exclude<Performed, { kind: "parked" }> = performed;
  for (const { validate, where } of exitChecks) {
    if (checked.kind !== "ok") return checked;
    let verdict: unknown;
    try {
      verdict = await validate(checked.output);
    } catch (error) {
      return refused(path, where, messageOf(error).slice(0, 4_000));
    }
    if (verdict === undefined || verdict === true) continue;
    if (verdict === false) return refused(path, where, "its validate function says no");
    checked = outputOf({ kind: "returned", value: verdict }, path, maxBytes) as typeof checked;
  }
  return checked;
}

function refused(path: string, where: string, why: string): Exclude<Performed, { kind: "parked" }> {
  const error = new HoldpointError("exitInvalid", `Node "${path}" cannot leave through exit "${where}": ${why}`, {
    details: { node: path, exit: where },
  });
  return { kind: "failed", error: error.toRecord() };
}
