/**
 * The lane of users' resource managers: claims passes that are due while slots are free, gives each a runner (an idle one of the same
 * approved files, or a new one), and writes down how it ended together with when the next one is due.
 */
import { randomUUID } from "node:crypto";
import { HoldpointError, isHoldpointError, toErrorRecord, type ErrorRecord } from "../../contracts/errors.ts";
import { PROCESS, RESOURCE } from "../../contracts/limits.ts";
import {
  fromResourceRunnerSchema,
  type FromResourceRunner,
  type ToResourceRunner,
} from "../../contracts/protocol/resource-runner.ts";
import type { ClaimedResource, FinishInput } from "../../state/store.ts";
import { gist, type CrashLog } from "../crash-log.ts";
import type { ChildExit, Timer } from "../ports.ts";
import type { ApprovedSources } from "../runs/approved-sources.ts";
import { RunnerPool } from "../runs/runner-pool.ts";
import { Worker, type WorkerDeps } from "../runs/worker.ts";
import { untilWritten } from "../until-written.ts";
import { PassSession, type PassDeps } from "./pass-session.ts";

/** Which rows of the queue are for this lane. */
const LANE = "runner";
/** After a claim that could not be written (a full disk), the queue is looked at again. */
const CLAIM_AGAIN_MS = 1_000;

type ResourceWorker = Worker<FromResourceRunner, ToResourceRunner>;

export interface ResourceLaneDeps extends WorkerDeps, PassDeps {
  readonly crashes: CrashLog;
  readonly approved: ApprovedSources;
}

interface Active {
  readonly claimed: ClaimedResource;
  readonly startedAt: number;
  session: PassSession | undefined;
  worker: ResourceWorker | undefined;
  /** Resolves when everything about this pass is written down. */
  done: Promise<void>;
}

export class ResourceLane {
  readonly #deps: ResourceLaneDeps;
  readonly #pool: RunnerPool<FromResourceRunner, ToResourceRunner>;
  readonly #active = new Set<Active>();
  /** Claims on their way; each holds a slot. */
  readonly #claims = new Set<Promise<void>>();
  #woken = false;
  #stopped = false;
  #dueTimer: Timer | undefined;
  #renewTimer: Timer | undefined;

  constructor(deps: ResourceLaneDeps) {
    this.#deps = deps;
    this.#pool = new RunnerPool(deps.ports.clock, deps.log, (worker, exit) => {
      deps.log.warn({ pid: worker.child.pid, code: exit.code, signal: exit.signal }, "an idle resource runner crashed");
      deps.crashes.add("resource runner", "(idle)", exit);
    });
  }

  start(): void {
    this.#armRenewal();
    this.wake();
  }

  /** Passes that go on now. */
  get active(): { manager: string; key: string; pid: number | null; startedAt: number }[] {
    return [...this.#active].map(({ claimed, startedAt, worker }) => {
      const { key, resourceManager } = claimed.resource.metadata;
      return { manager: resourceManager, key, pid: worker?.child.pid ?? null, startedAt };
    });
  }

  /** Runners that wait for another pass. */
  get idle(): number {
    return this.#pool.size;
  }

  /** Looks for due passes, once for all calls of one turn of the event loop; safe to call at any time. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    process.nextTick(() => {
      this.#woken = false;
      this.#look();
    });
  }

  /** No new passes; those that go on are ended, and the next server repeats them. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#dueTimer?.cancel();
    this.#renewTimer?.cancel();
    await Promise.all(this.#claims);
    await Promise.all(
      [...this.#active].map(async (entry) => {
        entry.session?.close();
        await entry.worker?.end();
        await entry.done;
      }),
    );
    await this.#pool.stop();
  }

  #look(): void {
    if (this.#stopped) return;
    const free = RESOURCE.lane - this.#active.size - this.#claims.size;
    // The end of any claim or pass looks again.
    if (free <= 0) return;
    const now = this.#deps.ports.clock.now();
    const { count, next } = this.#deps.store.read.managed.dueAt(LANE, now, free + this.#claims.size, this.#held());
    this.#dueTimer?.cancel();
    this.#dueTimer = undefined;
    if (count === 0 && next !== null) this.#wakeAt(Math.max(next, now + 1));
    for (let begun = this.#claims.size; begun < count; begun += 1) this.#launch(now);
  }

  #wakeAt(at: number): void {
    this.#dueTimer?.cancel();
    this.#dueTimer = this.#deps.ports.clock.timer(at, () => this.wake());
  }

  #launch(now: number): void {
    const claim = this.#tryClaim(now, () => this.#claims.delete(claim));
    this.#claims.add(claim);
  }

  async #tryClaim(now: number, ended: () => void): Promise<void> {
    try {
      await this.#claim();
      ended();
      // It may have found nothing because it came before what is due now, while others were counted on to take that.
      this.wake();
    } catch (error) {
      ended();
      this.#deps.log.error({ error: String(error) }, "claiming a resource failed");
      // Whoever woke us will not do so again for this pass.
      if (!this.#stopped) this.#wakeAt(now + CLAIM_AGAIN_MS);
    }
  }

  async #claim(): Promise<void> {
    const { ports, serverEpoch, store } = this.#deps;
    const claimed = await store.managed.claim({
      lane: LANE,
      reconcileId: `p-${randomUUID()}`,
      serverEpoch,
      held: this.#held(),
    });
    // Claimed while the server was told to stop: the next one takes it.
    if (claimed === null || this.#stopped) return;
    const startedAt = ports.clock.now();
    const entry: Active = { claimed, startedAt, session: undefined, worker: undefined, done: Promise.resolve() };
    this.#active.add(entry);
    entry.done = this.#pass(entry).finally(() => {
      this.#active.delete(entry);
      this.wake();
    });
  }

  /** Resources whose passes go on here: their claims are renewed, and nobody takes them over. */
  #held(): number[] {
    return [...this.#active].map(({ claimed }) => claimed.claim.managedNo);
  }

  async #pass(entry: Active): Promise<void> {
    const { log } = this.#deps;
    const { claim } = entry.claimed;
    const began = performance.now();
    try {
      const end = await this.#converse(entry);
      if (this.#stopped || end === undefined) return;
      await this.#write(entry.claimed, end, entry.session?.durationMs ?? performance.now() - began);
    } catch (error) {
      log.error({ uid: claim.uid, error: toErrorRecord(error) }, "a pass could not be watched");
    }
  }

  /** How the pass ended; undefined when nothing may be written, because another owner has the resource. */
  async #converse(entry: Active): Promise<FinishInput["end"] | undefined> {
    const { approved, log } = this.#deps;
    const { claimed } = entry;
    let worker: ResourceWorker;
    try {
      worker = await this.#workerFor(claimed);
      // Without them a runner can still use the original files, if they are the same.
      await approved
        .layOut(claimed.sources)
        .catch((error: unknown) => log.error({ error: String(error) }, "approved sources could not be laid out"));
    } catch (error) {
      return { outcome: "failed", error: toErrorRecord(error, "childStart") };
    }
    entry.worker = worker;
    if (this.#stopped) {
      await worker.end();
      return undefined;
    }
    worker.launches += 1;
    const session = new PassSession(this.#deps, claimed, worker.child);
    entry.session = session;
    session.onKill = () => void worker.end();
    try {
      session.begin();
    } catch (error) {
      // What cannot be sent now cannot be sent to this process later; nothing waits for an answer.
      session.close();
      await worker.end();
      return { outcome: "failed", error: toErrorRecord(error, "childStart") };
    }
    const exit = await Promise.race([session.over.then(() => null), worker.gone]);
    session.close();
    await session.answered();
    if (session.claimLost) {
      await worker.end();
      return undefined;
    }
    if (session.end !== undefined) {
      // Written down only then: whatever the pass left running must not meet the next one of its key.
      await this.#keepOrEnd(worker, session);
      return session.end;
    }
    if (this.#stopped) return undefined;
    this.#deps.crashes.add("resource runner", nameOf(claimed), exit);
    return { outcome: "failed", error: crashed(claimed, exit as ChildExit) };
  }

  /** Sees the process of a pass that has ended either as it was before the pass, and keeps it, or gone. */
  async #keepOrEnd(worker: ResourceWorker, session: PassSession): Promise<void> {
    const guard = setTimeout(() => void worker.end(), PROCESS.killGraceMs);
    const exit = await Promise.race([session.released.then(() => null), worker.gone]);
    clearTimeout(guard);
    if (exit !== null) return;
    if (this.#stopped || worker.ended) return void (await worker.end());
    const { projectPath, source, sources } = session.claimed;
    this.#pool.keep(worker, placeOf(projectPath, source), sources);
    this.#pool.shrink(RESOURCE.lane);
  }

  async #workerFor(claimed: ClaimedResource): Promise<ResourceWorker> {
    const { projectPath, source, sources } = claimed;
    const idle = this.#pool.take(sources, placeOf(projectPath, source));
    if (idle !== undefined) return idle;
    this.#pool.shrink(Math.max(0, RESOURCE.lane - this.#active.size));
    return Worker.launch<FromResourceRunner, ToResourceRunner>(this.#deps, {
      kind: "resource",
      name: nameOf(claimed),
      schema: fromResourceRunnerSchema,
    });
  }

  /** One structured record for each pass, whatever became of it. */
  async #write(claimed: ClaimedResource, end: FinishInput["end"], durationMs: number): Promise<void> {
    const { log, ports, store } = this.#deps;
    const { claim, reason, resource } = claimed;
    const { generation, key, resourceManager } = resource.metadata;
    const input = { claim, generation, durationMs };
    const record = { manager: resourceManager, key, generation, reconcileId: claim.runnerEpoch, cause: reason };
    try {
      const finished = await untilWritten({ clock: ports.clock, log }, "the end of a pass", () =>
        store.managed.finish({ ...input, end }).catch((error: unknown) => {
          // A status that breaks a limit is a pass that failed.
          if (!isHoldpointError(error) || error.kind !== "resourceInvalid") throw error;
          return store.managed.finish({ ...input, end: { outcome: "failed", error: error.toRecord() } });
        }),
      );
      log.info(
        {
          ...record,
          outcome: end.outcome,
          durationMs: Math.round(durationMs),
          nextAt: finished.nextAt,
          failures: finished.failures,
          ...(end.outcome === "failed" ? { error: end.error.message } : {}),
        },
        "reconciled",
      );
    } catch (error) {
      log.warn({ ...record, outcome: "notWritten", error: toErrorRecord(error) }, "reconciled");
    }
  }

  #armRenewal(): void {
    const { log, ports, store } = this.#deps;
    this.#renewTimer = ports.clock.timer(ports.clock.now() + RESOURCE.renewMs, () => {
      if (this.#stopped) return;
      const claims = [...this.#active].map(({ claimed }) => claimed.claim);
      if (claims.length > 0)
        store.managed
          .renew({ claims })
          .catch((error: unknown) => log.error({ error: String(error) }, "renewing resource claims failed"));
      this.#armRenewal();
    });
  }
}

/** Passes of a manager that two projects share run in their own folders. */
function placeOf(projectPath: string, source: string): string {
  return `${projectPath}\0${source}`;
}

function nameOf({ resource }: ClaimedResource): string {
  return `${resource.metadata.resourceManager}/${resource.metadata.key}`.slice(0, 200);
}

function crashed(claimed: ClaimedResource, { code, diagnostic, signal }: ChildExit): ErrorRecord {
  const how = signal === null ? `exited with code ${code}` : `was ended by ${signal}`;
  const tail = gist(diagnostic);
  return new HoldpointError(
    "resourceRunnerCrashed",
    `The resource runner of ${nameOf(claimed)} ${how}${tail ? `: ${tail}` : ""}.`,
  ).toRecord();
}
