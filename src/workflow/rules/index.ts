/**
 * Rules of the graph that both sides of the runner's pipe need: where a step leads, what is wrong with a definition,
 * and its digest. Pure functions over the definition snapshot; no authored function is called here, nothing is stored.
 */
export { afterStep, type AfterStep, type RunEnd } from "./after-step.ts";
export { checkDefinition, definitionProblems, type DefinitionProblem } from "./check.ts";
export { definitionDigest } from "./digest.ts";
export { parseSwitchPath, type SwitchPath } from "./path.ts";
export { route, type RouteResult } from "./route.ts";
