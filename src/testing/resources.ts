/**
 * A resource manager in memory: passes on demand, child runs that the test ends, effects whose answer gets lost, a pass that dies. By the
 * rules of the server; nothing is written and no time passes.
 */
import { HoldpointError } from "../contracts/errors.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import type { ManagedEffect } from "../contracts/resource/effect.ts";
import type { ManagedResourceCondition, StoredResource } from "../contracts/resource/model.ts";
import type { ReconcileResult } from "../contracts/resource/result.ts";
import { canonicalJson } from "../contracts/canonical.ts";
import type { ChildRun, ResourceManager } from "../resource/index.ts";
import { initialStatusOf, runPass, type PassHost } from "../resource/pass.ts";
import { nextConditions } from "../resource/rules/index.ts";

/** How a pass ended: what it returned, or what it threw. */
export type TestPass =
  | (ReconcileResult & { readonly error?: undefined })
  | { readonly outcome: "failed"; readonly error: HoldpointError };

interface Effect {
  record: ManagedEffect;
  attempt: number;
  open: boolean;
  readonly request: string;
}

interface Run {
  run: ChildRun;
  readonly request: string;
  readonly workflow: string;
  readonly input: JsonValue;
}

export class TestResource {
  /** Conditions after the last pass that ended well. */
  conditions: readonly ManagedResourceCondition[] = [];
  readonly finalizers = new Set<string>();
  /** True once its deletion was asked for and nothing keeps it any more. */
  deleted = false;
  readonly #manager: ResourceManager;
  readonly #key: string;
  readonly #effects = new Map<string, Effect>();
  readonly #runs = new Map<string, Run>();
  #spec: JsonValue;
  #status: JsonValue;
  #generation = 1;
  #observed = 0;
  #version = 1;
  #deletion: string | undefined;
  #current: string | undefined;
  #passes = 0;
  #losing: string | undefined;

  constructor(manager: ResourceManager, spec: JsonValue, key: string) {
    this.#manager = manager;
    this.#spec = spec;
    this.#key = key;
    this.#status = initialStatusOf(manager, spec);
  }

  /** What the manager keeps of it. */
  get status(): any {
    return this.#status;
  }

  get generation(): number {
    return this.#generation;
  }

  /** Effects in order of their first reservation. */
  get effects(): readonly ManagedEffect[] {
    return [...this.#effects.values()].map(({ record }) => record);
  }

  /** Child runs in order of their first request. */
  get runs(): readonly (ChildRun & { readonly workflow: string; readonly input: JsonValue })[] {
    return [...this.#runs.values()].map(({ input, run, workflow }) => ({ ...run, workflow, input }));
  }

  condition(type: string): ManagedResourceCondition | undefined {
    return this.conditions.find((condition) => condition.type === type);
  }

  /** Another spec is another generation. */
  apply(spec: JsonValue): void {
    if (canonicalJson(spec) === canonicalJson(this.#spec)) return;
    this.#spec = spec;
    this.#generation += 1;
    this.#version += 1;
  }

  /** Asks for its deletion; passes clean up as long as there are finalizers. */
  delete(): void {
    this.#deletion ??= new Date(0).toISOString();
    this.deleted = this.finalizers.size === 0;
  }

  /** A child run is at another state, for example `{ state: "succeeded", output: … }`. */
  setRun(requestKey: string, change: Partial<Pick<ChildRun, "state" | "output" | "error">>): void {
    const known = this.#runs.get(requestKey);
    if (known === undefined) throw new Error(`no run was asked for under "${requestKey}"`);
    known.run = { ...known.run, ...change };
  }

  /**
   * The next time this effect is done, its answer gets lost: it happened outside, and the pass dies. The next pass has to look.
   */
  loseAnswer(key: string): void {
    this.#losing = key;
  }

  /** One pass. Rejects never; `signal` stands for the time limit. */
  async reconcile(signal: AbortSignal = new AbortController().signal): Promise<TestPass> {
    if (this.deleted) throw new Error("the resource is deleted");
    this.#passes += 1;
    const reconcileId = `pass-${this.#passes}`;
    const end = await runPass({
      manager: this.#manager,
      resource: this.#resource(),
      host: this.#host(),
      signal,
      reconcileId,
    });
    if (this.#deletion !== undefined && this.finalizers.size === 0) this.deleted = true;
    if ("error" in end) return { outcome: "failed", error: end.error };
    this.#keep(end.result);
    return end.result;
  }

  #keep(result: ReconcileResult): void {
    const now = new Date(this.#passes * 1_000).toISOString();
    if (result.conditions !== undefined)
      this.conditions = nextConditions(this.conditions, result.conditions, this.#generation, now);
    if (result.resourceManagerStatus !== undefined) this.#status = result.resourceManagerStatus;
    this.#observed = this.#generation;
    this.#version += 1;
  }

  #resource(): StoredResource {
    const current = this.#current === undefined ? undefined : this.#runs.get(this.#current)?.run;
    const { name } = this.#manager;
    return structuredClone({
      metadata: {
        uid: `managed-test-${name}`,
        resourceManager: name,
        key: this.#key,
        resourceVersion: this.#version,
        generation: this.#generation,
        ...(this.#deletion === undefined ? {} : { deletionTimestamp: this.#deletion }),
        finalizers: [...this.finalizers],
      },
      spec: this.#spec,
      status: {
        observedGeneration: this.#observed,
        conditions: [...this.conditions],
        ...(current === undefined
          ? {}
          : {
              workflowRun: {
                requestId: current.requestKey,
                runId: current.runId,
                state: current.state,
                attempt: current.attempt,
              },
            }),
        resourceManagerStatus: this.#status,
      },
    });
  }

  #host(): PassHost {
    return {
      openEffects: [...this.#effects].filter(([, { open }]) => open).map(([key]) => key),
      reserve: (effect) => Promise.resolve().then(() => this.#reserve(effect)),
      settle: (settled) => Promise.resolve().then(() => this.#settle(settled)),
      ensureRun: (request) => Promise.resolve().then(() => this.#ensureRun(request)),
      cancelRun: ({ requestKey }) => Promise.resolve().then(() => this.#cancelRun(requestKey)),
      changeSettings: ({ requestKey }) => Promise.resolve().then(() => (this.#known(requestKey), { changeNumber: 1 })),
      queueFollowUp: ({ followUpKey, requestKey }) =>
        Promise.resolve().then(() => (this.#known(requestKey), { followUpId: `follow-up-${followUpKey}` })),
      removeFollowUp: ({ requestKey }) => Promise.resolve().then(() => this.#known(requestKey)),
      setFinalizer: async (finalizer, present) => {
        if (present) this.finalizers.add(finalizer);
        else this.finalizers.delete(finalizer);
      },
    };
  }

  #reserve({ key, kind, request }: Parameters<PassHost["reserve"]>[0]): Awaited<ReturnType<PassHost["reserve"]>> {
    const fingerprint = canonicalJson({ kind, request });
    const known = this.#effects.get(key);
    if (known !== undefined && known.request !== fingerprint)
      throw new HoldpointError("effectConflict", `Effect "${key}" was reserved before with another kind or request.`);
    if (known === undefined) {
      const record: ManagedEffect = {
        key,
        kind,
        effectId: `effect-${key}`,
        resourceUid: `managed-test-${this.#manager.name}`,
        generation: this.#generation,
        requestFingerprint: fingerprint,
        state: "pending",
        startedAt: new Date(this.#passes * 1_000).toISOString(),
      };
      this.#effects.set(key, { record, attempt: 1, open: true, request: fingerprint });
      return { effectId: record.effectId, attempt: 1, state: "fresh", record };
    }
    if (known.open) known.record = { ...known.record, state: "indeterminate" };
    const { attempt, open, record } = known;
    return { effectId: record.effectId, attempt, state: open ? "observe" : "settled", record };
  }

  #settle(settled: Parameters<PassHost["settle"]>[0]): Awaited<ReturnType<PassHost["settle"]>> {
    const { effectId, error, externalRef, outcome, output } = settled;
    const effect = [...this.#effects.values()].find(({ record }) => record.effectId === effectId);
    if (effect === undefined) throw new HoldpointError("effectNotFound", `There is no effect "${effectId}".`);
    if (outcome === "applied" && this.#losing === effect.record.key) {
      this.#losing = undefined;
      throw new HoldpointError("resourceRunnerCrashed", `The answer of effect "${effect.record.key}" got lost.`);
    }
    if (outcome === "notApplied") {
      effect.attempt += 1;
      effect.record = { ...effect.record, state: "pending" };
      return { effectId, attempt: effect.attempt, state: "fresh", record: effect.record };
    }
    effect.open = outcome === "uncertain";
    effect.record = {
      ...effect.record,
      state: outcome === "uncertain" ? "indeterminate" : outcome,
      ...(externalRef === undefined ? {} : { externalRef }),
      ...(output === undefined ? {} : { output }),
      ...(error === undefined ? {} : { error: error.message }),
    };
    return { effectId, attempt: effect.attempt, state: effect.open ? "observe" : "settled", record: effect.record };
  }

  #ensureRun({ input, requestKey, workflow }: Parameters<PassHost["ensureRun"]>[0]): ChildRun {
    const request = canonicalJson({ workflow, input });
    const known = this.#runs.get(requestKey);
    if (known !== undefined && known.request !== request)
      throw new HoldpointError(
        "idempotencyConflict",
        `Request "${requestKey}" asked for ${known.workflow} before, with another workflow or input.`,
      );
    this.#current = requestKey;
    if (known !== undefined) return known.run;
    const run: ChildRun = { requestKey, runId: `run-${this.#runs.size + 1}`, state: "pending", attempt: 0 };
    this.#runs.set(requestKey, { run, request, workflow, input });
    return run;
  }

  #cancelRun(requestKey: string): ChildRun | null {
    const known = this.#runs.get(requestKey);
    if (known === undefined) return null;
    if (["pending", "running", "waiting"].includes(known.run.state)) known.run = { ...known.run, state: "interrupted" };
    return known.run;
  }

  #known(requestKey: string): void {
    if (!this.#runs.has(requestKey))
      throw new HoldpointError("runNotFound", `This resource asked for no run under "${requestKey}".`);
  }
}

/**
 * A resource of a manager, before its first pass.
 *
 * @example
 * const resource = manageResource(pullRequest, { repository: "shop", number: 7 });
 * await resource.reconcile();
 * resource.setRun("repair:1:abc", { state: "succeeded" });
 * expect((await resource.reconcile()).outcome).toBe("requeue");
 * expect(resource.effects).toMatchObject([{ kind: "merge", state: "applied" }]);
 * @throws HoldpointError `resourceInvalid` when the manager refuses the spec.
 */
export function manageResource(manager: ResourceManager, spec: JsonValue, key = "test"): TestResource {
  return new TestResource(manager, spec, key);
}
