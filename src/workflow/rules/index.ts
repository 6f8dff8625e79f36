/**
 * Rules of the graph that both sides of the runner's pipe need: where a step leads, what is wrong with a definition,
 * and its digest. Pure functions over the definition snapshot; no authored function is called here, nothing is stored.
 */
export { afterStep, type RunEnd } from "./after-step.ts";
export { checkDefinition, definitionProblems } from "./check.ts";
export { definitionDigest } from "./digest.ts";
export { route } from "./route.ts";
