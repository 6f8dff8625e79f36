/**
 * Chains: points of one scenario that are met in one play of it. A point alone costs two starts of everything, a chain one start more
 * than it has points. The order is the play's own: all of its points wait at the same time, and whichever is reached first strikes.
 */
import { chainOf, isOfChild, type Point } from "./points.ts";

/** Longer ones take long to look through when something is wrong, and leave more behind that was not reached. */
const LONGEST = 10;

/** Every point once, in chains. */
export function chainsOf(points: readonly Point[]): Point[] {
  const chains: { readonly scenario: Point["scenario"]; readonly faults: string[] }[] = [];
  for (const { faults, scenario } of points) {
    for (const fault of faults) {
      const chain = chains.find((one) => one.scenario === scenario && fits(fault, one.faults));
      if (chain === undefined) chains.push({ scenario, faults: [fault] });
      else chain.faults.push(fault);
    }
  }
  return chains.map(({ faults, scenario }) => chainOf(scenario, faults));
}

/** The noise of a batch belongs to a label: a point of that label that wants none goes elsewhere. */
function fits(fault: string, chain: readonly string[]): boolean {
  if (chain.length >= LONGEST) return false;
  return chain.every((other) => isOfChild(other) || labelOf(other) !== labelOf(fault) || noisy(other) === noisy(fault));
}

function labelOf(fault: string): string {
  return fault.split(":", 1)[0] ?? "";
}

function noisy(fault: string): boolean {
  return fault.endsWith("+batch");
}
