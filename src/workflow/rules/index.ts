/**
 * Rules of running that both sides of the runner's pipe need: where a step leads, in which invocation of a mount it lies,
 * what is wrong with a definition, its digest; who may change settings, when an update is admitted, what progress it
 * tells, when a follow-up goes out. Pure functions over data; no authored function is called here, nothing is stored.
 */
export { afterStep, type AfterStep, type RunEnd } from "./after-step.ts";
export { checkDefinition, definitionProblems } from "./check.ts";
export { definitionDigest } from "./digest.ts";
export {
  followUpId,
  judgeFollowUp,
  mayRemoveFollowUp,
  removedBefore,
  type FollowUp,
  type FollowUpActor,
} from "./follow-ups.ts";
export type { PlannedTransition } from "./graph.ts";
export { applyTransitions, mountsAtStart, type MountMark, type MountMarks } from "./mounts.ts";
export { applyPatch } from "./json-patch.ts";
export { nodesInOrder } from "./node-order.ts";
export { route } from "./route.ts";
export { estimate, observe, type Estimate, type ProgressTrack } from "./progress.ts";
export { changeSettings, readableSettings, type ChangedSettings, type SettingsChange } from "./settings.ts";
export { holdLimit, shortestHold } from "./step-limit.ts";
export { admit, admitUpdate, fullBucket, type TokenBucket } from "./updates.ts";
