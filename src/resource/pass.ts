/** One pass of a resource manager over a host: what it asks for goes out, what it returns is checked. */
import { HoldpointError, isHoldpointError, messageOf, stackOf } from "../contracts/errors.ts";
import { RESOURCE, VALUE } from "../contracts/limits.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import { finalizerSchema, type StoredResource } from "../contracts/resource/model.ts";
import { reconcileResultSchema, type ReconcileResult } from "../contracts/resource/result.ts";
import type { ChildRun, Found, ReconcileContext, Result, Workflows } from "./context.ts";
import { invalid, type ManagedResource, type ResourceManager } from "./definition.ts";
import { confirmEffect, ensureEffect, type EffectHost } from "./effects.ts";
import { asJson } from "./json.ts";

/** What a pass needs of whoever keeps the resource. */
export interface PassHost extends EffectHost {
  ensureRun(request: {
    readonly requestKey: string;
    readonly workflow: string;
    readonly input: JsonValue;
  }): Promise<ChildRun>;
  cancelRun(request: { readonly requestKey: string; readonly reason: string | null }): Promise<ChildRun | null>;
  changeSettings(request: {
    readonly requestKey: string;
    readonly changeKey: string;
    readonly patch: JsonValue;
    readonly mount: string;
    readonly expectedChangeNumber: number | null;
  }): Promise<{ readonly changeNumber: number }>;
  queueFollowUp(request: {
    readonly requestKey: string;
    readonly followUpKey: string;
    readonly prompt: string;
  }): Promise<{ readonly followUpId: string }>;
  removeFollowUp(request: { readonly requestKey: string; readonly followUpId: string }): Promise<void>;
  setFinalizer(finalizer: string, present: boolean): Promise<void>;
}

export interface PassOptions {
  readonly manager: ResourceManager;
  readonly resource: StoredResource;
  readonly host: PassHost;
  readonly signal: AbortSignal;
  readonly reconcileId: string;
}

export type PassEnd = { readonly result: ReconcileResult } | { readonly error: HoldpointError };

/** Runs one pass; never rejects. What the manager's code threw is an error `reconcileFailed` with its words. */
export async function runPass({ host, manager, reconcileId, resource, signal }: PassOptions): Promise<PassEnd> {
  const pass = { over: false };
  try {
    const context = contextOf(host, signal, reconcileId, pass);
    const returned: unknown = await manager.reconcile(context, resource as ManagedResource<any, any>);
    if (returned instanceof Error) return { error: failed(returned) };
    return { result: resultOf(returned) };
  } catch (error) {
    return { error: failed(error) };
  } finally {
    // What the code still does in the background has no resource any more.
    pass.over = true;
  }
}

/** What is stored for a new resource. Throws `resourceInvalid` with the words of the manager that refused the spec. */
export function initialStatusOf(manager: ResourceManager, spec: JsonValue): JsonValue {
  let status: unknown;
  try {
    status = manager.initialStatus(spec);
  } catch (error) {
    throw new HoldpointError(
      "resourceInvalid",
      `Resource manager "${manager.name}" refuses this spec: ${messageOf(error)}`,
      { cause: error },
    );
  }
  if (typeof (status as { then?: unknown } | null)?.then === "function")
    throw invalid(`initialStatus of resource manager "${manager.name}" must not be asynchronous.`);
  return asJson(status, `the initial status of resource manager "${manager.name}"`);
}

function contextOf(
  host: PassHost,
  signal: AbortSignal,
  reconcileId: string,
  pass: { readonly over: boolean },
): ReconcileContext<unknown> {
  const going = (): void => {
    if (pass.over) throw invalid("A pass that has returned cannot ask for anything more.");
  };
  return {
    reconcileId,
    signal,
    settled: (found) => ({ outcome: "settled", ...found }),
    requeue: (found) => ({ outcome: "requeue", ...found }),
    requeueAfter: (delayMs, found) => ({ outcome: "requeueAfter", delayMs, ...found }),
    workflows: workflowsOf(host, going),
    effects: {
      ensure: async (effect) => {
        going();
        return ensureEffect(host, effect, signal);
      },
      confirm: async (effect) => {
        going();
        return confirmEffect(host, effect, signal);
      },
    },
    finalizers: {
      add: async (name) => {
        going();
        await host.setFinalizer(finalizerName(name), true);
      },
      remove: async (name) => {
        going();
        await host.setFinalizer(finalizerName(name), false);
      },
    },
  };
}

function workflowsOf(host: PassHost, going: () => void): Workflows {
  return {
    ensure: async ({ input, requestKey, workflow }) => {
      going();
      return host.ensureRun({
        requestKey: keyOf(requestKey, "requestKey"),
        workflow: keyOf(workflow, "workflow"),
        input: input === undefined ? null : asJson(input, `the input of child run "${requestKey}"`),
      });
    },
    cancel: async ({ reason, requestKey }) => {
      going();
      return host.cancelRun({
        requestKey: keyOf(requestKey, "requestKey"),
        reason: reason === undefined ? null : reasonOf(reason),
      });
    },
    changeSettings: async ({ changeKey, expectedChangeNumber = null, mount = "", patch, requestKey }) => {
      going();
      return host.changeSettings({
        requestKey: keyOf(requestKey, "requestKey"),
        changeKey: keyOf(changeKey, "changeKey"),
        mount,
        expectedChangeNumber,
        patch: asJson(patch, "a settings patch"),
      });
    },
    queueFollowUp: async ({ followUpKey, prompt, requestKey }) => {
      going();
      return host.queueFollowUp({
        requestKey: keyOf(requestKey, "requestKey"),
        followUpKey: keyOf(followUpKey, "followUpKey"),
        prompt,
      });
    },
    removeFollowUp: async ({ followUpId, requestKey }) => {
      going();
      await host.removeFollowUp({ requestKey: keyOf(requestKey, "requestKey"), followUpId });
    },
  };
}

function keyOf(value: unknown, what: string): string {
  if (typeof value === "string" && value !== "" && value.length <= RESOURCE.keyChars) return value;
  throw invalid(`${what} is text of 1 to ${RESOURCE.keyChars} characters.`);
}

function reasonOf(value: unknown): string {
  if (typeof value === "string" && value.length <= RESOURCE.reasonChars) return value;
  throw invalid(`The reason of a cancellation is text of at most ${RESOURCE.reasonChars} characters.`);
}

function finalizerName(name: unknown): string {
  const parsed = finalizerSchema.safeParse(name);
  if (parsed.success) return parsed.data;
  throw invalid(
    `A finalizer is one word of at most ${RESOURCE.wordChars} characters; it is "${String(name).slice(0, 80)}".`,
  );
}

function resultOf(returned: unknown): ReconcileResult {
  if (typeof returned !== "object" || returned === null || !("outcome" in returned))
    throw invalid("reconcile returns what ctx.settled(), ctx.requeue() or ctx.requeueAfter() gave it.");
  const { conditions, outcome, resourceManagerStatus, ...rest } = returned as Result<unknown> & Found<unknown>;
  const parsed = reconcileResultSchema.safeParse({
    outcome,
    ...rest,
    ...(conditions === undefined ? {} : { conditions: asJson(conditions, "the conditions") }),
    ...(resourceManagerStatus === undefined
      ? {}
      : { resourceManagerStatus: asJson(resourceManagerStatus, "the resourceManagerStatus") }),
  });
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw invalid(
    `What reconcile returned is wrong at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? "unknown"}.`,
  );
}

function failed(thrown: unknown): HoldpointError {
  if (isHoldpointError(thrown)) return thrown;
  const stack = stackOf(thrown);
  return new HoldpointError("reconcileFailed", messageOf(thrown).slice(0, VALUE.errorChars), {
    cause: thrown,
    ...(stack === undefined ? {} : { details: { stack: stack.slice(0, 4_000) } }),
  });
}
