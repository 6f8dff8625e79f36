/**
 * The authoring API of resource managers, `holdpoint/resource-managers`: a manager keeps one outside thing at its requested state, one
 * bounded pass after another.
 *
 * Owns definitions, the context of a pass, and the order of looking and doing in an effect; rules/ is what the server needs too. Must not
 * read files, open pipes, or know where a resource is stored.
 */
export { conditionFalse, conditionTrue, conditionUnknown } from "./conditions.ts";
export type {
  ChangeSettings,
  ChildRun,
  EffectApplied,
  EffectObservation,
  Effects,
  EnsureEffect,
  EnsureRun,
  Finalizers,
  Found,
  QueueFollowUp,
  ReconcileContext,
  Result,
  Workflows,
} from "./context.ts";
export {
  defineResourceManager,
  isResourceManager,
  type ManagedResource,
  type ResourceManager,
  type ResourceManagerOptions,
} from "./definition.ts";
export { effectRejected, isEffectRejected } from "./effects.ts";
export type { ManagedEffect as EffectRecord } from "../contracts/resource/effect.ts";
export type { ConditionInput, ManagedResourceCondition } from "../contracts/resource/model.ts";
