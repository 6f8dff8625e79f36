/** `defineResourceManager`: what a resource manager file exports. */
import { HoldpointError } from "../contracts/errors.ts";
import { RESOURCE } from "../contracts/limits.ts";
import { MANAGER_NAME, type ManagedResourceCondition, type StoredResource } from "../contracts/resource/model.ts";
import type { ReconcileContext, Result } from "./context.ts";

/** The durable record of one requested outcome. The manager owns `status`; callers own `spec`. Times are ISO 8601 in UTC. */
export interface ManagedResource<Spec, Status> {
  readonly metadata: Readonly<StoredResource["metadata"]>;
  readonly spec: Spec;
  readonly status: {
    /** The generation that this status was found for; 0 before the first pass. */
    readonly observedGeneration: number;
    readonly conditions: readonly ManagedResourceCondition[];
    /** The child run that was asked for last. */
    readonly workflowRun?: StoredResource["status"]["workflowRun"];
    readonly resourceManagerStatus: Status;
  };
}

export interface ResourceManagerOptions<Spec, Status> {
  /** Small letters, digits and hyphens; the file is `<name>.resource-manager.ts`. */
  readonly name: string;
  /** The status of a new resource, or a throw that refuses the spec. Must not touch anything outside. */
  readonly initialStatus: (spec: Spec) => Status;
  /** One bounded pass: looks at what is, does at most a step towards what is wanted, and says when to look again. */
  readonly reconcile: (
    context: ReconcileContext<Status>,
    resource: ManagedResource<Spec, Status>,
  ) => Result<Status> | Promise<Result<Status>>;
  /** Time for one pass in milliseconds; at most and by default 60,000. */
  readonly timeoutMs?: number;
}

export interface ResourceManager<Spec = any, Status = any> extends ResourceManagerOptions<Spec, Status> {
  readonly timeoutMs: number;
}

/** Brand of definitions; by Symbol.for, so that two copies of this module agree. */
const BRAND = Symbol.for("holdpoint.resource-manager.v1");

/**
 * Defines a resource manager; the file exports it as default.
 *
 * @example
 * export default defineResourceManager<{ url: string }, { phase: string }>({
 *   name: "page",
 *   initialStatus: () => ({ phase: "new" }),
 *   async reconcile(ctx, resource) {
 *     const { ok } = await fetch(resource.spec.url, { signal: ctx.signal });
 *     const ready = ok ? conditionTrue("Ready", "Answers") : conditionFalse("Ready", "Broken");
 *     return ctx.requeueAfter(60_000, { resourceManagerStatus: { phase: "watched" }, conditions: [ready] });
 *   },
 * });
 * @throws HoldpointError `managerInvalid` that names what is wrong.
 */
export function defineResourceManager<Spec = any, Status = any>(
  options: ResourceManagerOptions<Spec, Status>,
): ResourceManager<Spec, Status> {
  const { initialStatus, name, reconcile, timeoutMs = RESOURCE.reconcileMs } = options;
  const given: unknown = name;
  if (typeof name !== "string" || !MANAGER_NAME.test(name) || name.length > RESOURCE.nameChars)
    throw invalid(
      `The name of a resource manager is small letters, digits and hyphens, at most ${RESOURCE.nameChars}; it is "${String(given).slice(0, 80)}".`,
    );
  for (const [field, value] of Object.entries({ initialStatus, reconcile }))
    if (typeof value !== "function") throw invalid(`Resource manager "${name}" needs a function ${field}.`);
  if (!Number.isInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > RESOURCE.reconcileMs)
    throw invalid(
      `timeoutMs of resource manager "${name}" is a whole number from 1 to ${RESOURCE.reconcileMs}; it is ${timeoutMs}.`,
    );
  const definition = { name, initialStatus, reconcile, timeoutMs };
  Object.defineProperty(definition, BRAND, { value: true });
  return Object.freeze(definition);
}

export function isResourceManager(value: unknown): value is ResourceManager {
  return typeof value === "object" && value !== null && BRAND in value;
}

export function invalid(message: string): HoldpointError {
  return new HoldpointError("managerInvalid", message);
}
