/**
 * The server's side of one pass: stores what it asks for under its claim, answers, and knows how it ended. It never trusts the runner
 * with time: a pass that is over its limit is told to stop, and then its process is ended.
 */
import { asHoldpointError, HoldpointError, toErrorRecord, type ErrorRecord } from "../../contracts/errors.ts";
import { CONTENT, RESOURCE } from "../../contracts/limits.ts";
import type { FromResourceRunner, PassRequest, ToResourceRunner } from "../../contracts/protocol/resource-runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ClaimedResource, FinishInput, ManagedRun, Store } from "../../state/store.ts";
import type { Child, Log } from "../ports.ts";

export interface PassDeps {
  readonly store: Store;
  readonly log: Log;
  readonly cacheDir: string;
  readonly sourcesDir: string;
  /** Starts child runs that are new. */
  readonly ensureRun: (request: Parameters<Store["managed"]["ensure"]>[0]) => Promise<ManagedRun>;
  /** Ends a run that this resource asked for. */
  readonly cancelRun: (run: ManagedRun, reason: string | null) => Promise<ManagedRun>;
  /** A settings change through everything that judges it. */
  readonly changeSettings: (change: SettingsChange) => Promise<{ readonly changeNumber: number }>;
}

export interface SettingsChange {
  readonly runId: string;
  readonly mount: string;
  readonly patch: JsonValue;
  readonly expectedChangeNumber: number | null;
  readonly requestId: string;
  readonly actorId: string;
}

export class PassSession {
  /** How the pass ended, once it is known; a process that exits before has crashed. */
  end: FinishInput["end"] | undefined;
  /** Another owner has the resource: nothing of this pass may be written any more. */
  claimLost = false;
  readonly claimed: ClaimedResource;
  /** Resolves when the end is known. */
  readonly over: Promise<void>;
  /** Resolves when the process may take another pass. */
  readonly released: Promise<void>;
  /** Called when the process has to be ended. */
  onKill: () => void = () => undefined;
  readonly #deps: PassDeps;
  readonly #child: Child<FromResourceRunner, ToResourceRunner>;
  readonly #asked = new Set<Promise<void>>();
  #status: JsonValue | undefined;
  #setOver: () => void = () => undefined;
  #setReleased: () => void = () => undefined;
  #guard: NodeJS.Timeout | undefined;
  #startedAt = performance.now();
  #endedAt: number | undefined;

  constructor(deps: PassDeps, claimed: ClaimedResource, child: Child<FromResourceRunner, ToResourceRunner>) {
    this.#deps = deps;
    this.claimed = claimed;
    this.#child = child;
    this.over = new Promise((resolve) => (this.#setOver = resolve));
    this.released = new Promise((resolve) => (this.#setReleased = resolve));
  }

  get durationMs(): number {
    return (this.#endedAt ?? performance.now()) - this.#startedAt;
  }

  begin(): void {
    const { claim, openEffects, projectPath, resource, source, sources } = this.claimed;
    this.#startedAt = performance.now();
    this.#arm(RESOURCE.reconcileMs);
    this.#child.port.onFrame((frame) => this.#take(frame));
    const { metadata, spec, status } = resource;
    this.#child.port.send(
      {
        type: "reconcile",
        schema: "holdpoint.reconcile-launch.v1",
        protocol: 1,
        reconcileId: claim.runnerEpoch,
        manager: metadata.resourceManager,
        projectPath,
        path: source,
        sources: [...sources],
        sourcesDir: this.#deps.sourcesDir,
        cacheDir: this.#deps.cacheDir,
        openEffects: [...openEffects],
        resource: { metadata, spec: null, status: { ...status, resourceManagerStatus: null } },
      },
      { type: "value", of: "spec", value: spec },
      { type: "value", of: "status", value: status.resourceManagerStatus },
    );
  }

  /** The server stops, or the runner is gone: no timer strikes any more. */
  close(): void {
    clearTimeout(this.#guard);
  }

  /** Everything that the pass asked for is on disk or refused. */
  async answered(): Promise<void> {
    await Promise.all(this.#asked);
  }

  #take(frame: FromResourceRunner): void {
    switch (frame.type) {
      case "runner.ready":
        return this.#arm(Math.min(frame.timeoutMs, RESOURCE.reconcileMs));
      case "value":
        this.#status = frame.value;
        return;
      case "runner.finished":
        return this.#finish({
          ...frame.result,
          ...(this.#status === undefined ? {} : { resourceManagerStatus: this.#status }),
        });
      case "runner.failed":
        return this.#finish({ outcome: "failed", error: frame.error });
      case "released":
        return this.#setReleased();
      case "exiting":
      case "resolved":
        return;
      default:
        return this.#request(frame);
    }
  }

  #request(request: PassRequest): void {
    const { messageId } = request;
    if (this.end !== undefined) return;
    const asked = this.#perform(request)
      .then(
        (result) => this.#reply({ type: "reply", messageId, result }),
        (error: unknown) => {
          const known = asHoldpointError(error);
          if (known.kind === "claimLost") this.#lost();
          this.#reply({ type: "reply", messageId, error: known.toRecord() });
        },
      )
      .finally(() => this.#asked.delete(asked));
    this.#asked.add(asked);
  }

  #reply(frame: ToResourceRunner): void {
    try {
      this.#child.port.send(frame);
    } catch (error) {
      this.#deps.log.error({ error: toErrorRecord(error) }, "a reply to a pass could not be sent");
      this.onKill();
    }
  }

  async #perform(request: PassRequest): Promise<JsonValue> {
    const { store } = this.#deps;
    const { claim } = this.claimed;
    switch (request.type) {
      case "effect.reserve": {
        const { key, kind, request: what } = request;
        return asJson(await store.managed.reserve({ claim, key, kind, request: what }));
      }
      case "effect.settle": {
        const { messageId: _m, type: _t, ...settled } = request;
        return asJson(await store.managed.settle({ claim, ...settled }));
      }
      case "workflow.ensure": {
        const { input, requestKey, workflow, workflowPath } = request;
        return this.#child_(await this.#deps.ensureRun({ claim, requestKey, workflow, workflowPath, input }));
      }
      case "workflow.cancel": {
        const run = await this.#ownRun(request.requestKey);
        return run === null ? null : this.#child_(await this.#deps.cancelRun(run, request.reason ?? null));
      }
      case "workflow.changeSettings": {
        const { changeKey, expectedChangeNumber, mount, patch, requestKey } = request;
        const { runId } = known(await this.#ownRun(requestKey), requestKey);
        const { changeNumber } = await this.#deps.changeSettings({
          runId,
          mount,
          patch,
          expectedChangeNumber,
          requestId: `${claim.uid}:${changeKey}`,
          actorId: claim.uid,
        });
        return { changeNumber };
      }
      case "workflow.queueFollowUp": {
        const { followUpKey, prompt, requestKey } = request;
        const { runId } = known(await this.#ownRun(requestKey), requestKey);
        const { result } = await store.followUps.queue({
          run: runId,
          prompt,
          requestId: followUpKey,
          expectedRevision: null,
          receipt: null,
          source: { kind: "controller", sourceId: claim.uid },
        });
        return { followUpId: result.followUpId };
      }
      case "workflow.removeFollowUp": {
        const { followUpId, requestKey } = request;
        const { runId } = known(await this.#ownRun(requestKey), requestKey);
        const source = { kind: "controller", sourceId: claim.uid } as const;
        await store.followUps.remove({
          run: runId,
          followUp: followUpId,
          expectedRevision: null,
          receipt: null,
          source,
        });
        return null;
      }
      case "finalizer.set": {
        const { finalizer, present } = request;
        return store.managed.finalizer({ claim, finalizer, present });
      }
    }
  }

  /** A run that this resource asked for, while its claim stands; null when it never did. */
  async #ownRun(requestKey: string): Promise<ManagedRun | null> {
    const { claim } = this.claimed;
    const standing = await this.#deps.store.managed.renew({ claims: [claim] });
    if (!standing.includes(claim.managedNo))
      throw new HoldpointError("claimLost", `The claim on resource ${claim.uid} no longer stands.`);
    return this.#deps.store.read.managed.get(claim.uid, requestKey);
  }

  #child_(run: ManagedRun): JsonValue {
    const { attempts, error, requestKey, runId, status } = run;
    const output = status === "succeeded" ? this.#outputOf(runId) : undefined;
    return asJson({
      requestKey,
      runId,
      state: status,
      attempt: attempts,
      ...(output === undefined ? {} : { output }),
      ...(error === null ? {} : { error }),
    });
  }

  #outputOf(runId: string): JsonValue | undefined {
    const { read } = this.#deps.store;
    const text = read.runs.outputText(read.runs.get(runId).runNo, null);
    return text === null || Buffer.byteLength(text) > CONTENT.inlineBytes ? undefined : (JSON.parse(text) as JsonValue);
  }

  #finish(end: FinishInput["end"]): void {
    if (this.end !== undefined) return;
    this.end = end;
    this.#endedAt = performance.now();
    this.close();
    this.#setOver();
  }

  #lost(): void {
    this.claimLost = true;
    this.onKill();
  }

  /** Tells it to stop after `ms`, and ends it a little later. */
  #arm(ms: number): void {
    clearTimeout(this.#guard);
    if (this.end !== undefined) return;
    const reason = `The pass did not return within ${ms} ms.`;
    this.#guard = setTimeout(() => {
      this.#reply({ type: "abort", reason });
      this.#guard = setTimeout(() => {
        this.#finish({ outcome: "failed", error: timedOut(reason) });
        this.onKill();
      }, RESOURCE.abortGraceMs);
    }, ms);
  }
}

function known(run: ManagedRun | null, requestKey: string): ManagedRun {
  if (run !== null) return run;
  throw new HoldpointError("runNotFound", `This resource asked for no run under "${requestKey}".`);
}

function timedOut(reason: string): ErrorRecord {
  return new HoldpointError("reconcileTimedOut", reason).toRecord();
}

function asJson(value: object): JsonValue {
  return value as JsonValue;
}
