/**
 * The run lane: claims due runs while slots are free, gives each a runner (an idle one of the same sources, or a new one),
 * watches it, and decides with the store what becomes of a run whose runner ended. Continuations go before new starts
 * (the queue's order).
 */
import { randomUUID } from "node:crypto";
import { cpus } from "node:os";
import { HoldpointError, toErrorRecord } from "../../contracts/errors.ts";
import { LANES, LEASE, PROCESS } from "../../contracts/limits.ts";
import type { SettingsVersion } from "../../contracts/settings.ts";
import type { Launch, RunnerEnded } from "../../state/store.ts";
import { type CrashLog, gist } from "../crash-log.ts";
import { untilWritten } from "../until-written.ts";
import type { ChildExit, Ports, Timer } from "../ports.ts";
import type { ApprovedSources } from "./approved-sources.ts";
import { RunSession, type RunSessionDeps } from "./run-session.ts";
import { RunnerPool } from "./runner-pool.ts";
import { sameOnDisk } from "./source-files.ts";
import { Worker } from "./worker.ts";

/** After a claim that could not be written (a full disk), the queue is looked at again. */
const CLAIM_AGAIN_MS = 1_000;

/** A runner that was told to end gets this long before its group is stopped. */
const LEAVE_MS = 1_000;

export interface SchedulerDeps extends RunSessionDeps {
  readonly ports: Ports;
  readonly serverEpoch: number;
  readonly crashes: CrashLog;
  readonly maxRuns: number | undefined;
  readonly approved: ApprovedSources;
}

interface Active {
  readonly claimed: Launch;
  readonly startedAt: number;
  session: RunSession | undefined;
  worker: Worker | undefined;
  /** Resolves when everything about this launch is written down. */
  done: Promise<void>;
}

export class RunScheduler {
  readonly capacity: number;
  readonly #deps: SchedulerDeps;
  readonly #pool: RunnerPool;
  /** By runner epoch. */
  readonly #active = new Map<string, Active>();
  /** Claims on their way; each holds a slot. */
  readonly #claims = new Set<Promise<void>>();
  #woken = false;
  #stopped = false;
  #dueTimer: Timer | undefined;
  #renewTimer: Timer | undefined;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#pool = new RunnerPool(deps.clock, deps.log, (worker, exit) => {
      deps.log.warn({ pid: worker.child.pid, code: exit.code, signal: exit.signal }, "an idle runner crashed");
      deps.crashes.add("runner", "(idle)", exit);
    });
    this.capacity = deps.maxRuns ?? Math.min(LANES.runsMax, Math.max(LANES.runsMin, cpus().length * LANES.runsPerCore));
  }

  start(): void {
    this.#armRenewal();
    this.wake();
  }

  get active(): { runId: string; pid: number | null; startedAt: number }[] {
    return [...this.#active.values()].map((entry) => ({
      runId: entry.claimed.claim.runId,
      pid: entry.worker?.child.pid ?? null,
      startedAt: entry.startedAt,
    }));
  }

  /** Looks for due runs, once for all calls of one turn of the event loop; safe to call at any time. */
  wake(): void {
    if (this.#woken) return;
    this.#woken = true;
    process.nextTick(() => {
      this.#woken = false;
      this.#look();
    });
  }

  #look(): void {
    if (this.#stopped) return;
    const free = this.capacity - this.#active.size - this.#claims.size;
    // The end of any claim or run looks again.
    if (free <= 0) return;
    this.#dueTimer?.cancel();
    this.#dueTimer = undefined;
    const now = this.#deps.ports.clock.now();
    const onTheirWay = this.#claims.size;
    const due = this.#deps.store.read.runs.dueAt(now, free + onTheirWay);
    if (due.count === 0 && due.next !== null) this.#wakeAt(due.next);
    for (let count = onTheirWay; count < due.count; count += 1) this.#launch(now);
  }

  /** One claim, which holds a slot until it is known what it found; then the queue is looked at again, whatever it was. */
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
      this.#deps.log.error({ error: String(error) }, "claiming a run failed");
      // Whoever woke us will not do so again for this run.
      if (!this.#stopped) this.#wakeAt(now + CLAIM_AGAIN_MS);
    }
  }

  #wakeAt(at: number): void {
    this.#dueTimer?.cancel();
    this.#dueTimer = this.#deps.ports.clock.timer(at, () => this.wake());
  }

  /** Ends the runner of a launch because its run was paused or cancelled; resolves when its processes are gone. */
  async stopRunner(runnerEpoch: string, reason: string): Promise<void> {
    const entry = this.#active.get(runnerEpoch);
    if (!entry) return;
    entry.session?.stop(reason);
    await entry.worker?.end();
    await entry.done;
  }

  /** Tells the runner of a run, if it has one now, what its settings are. */
  settingsChanged(runId: string, version: SettingsVersion): void {
    for (const { claimed, session } of this.#active.values())
      if (claimed.claim.runId === runId) session?.settingsChanged(version);
  }

  /** No new claims; every runner is told to end and waited for. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#dueTimer?.cancel();
    this.#renewTimer?.cancel();
    await Promise.all(this.#claims);
    const entries = [...this.#active.values()];
    for (const entry of entries) entry.session?.stop("the server stops");
    await Promise.all(
      entries.map(async (entry) => {
        await entry.worker?.end();
        await entry.done;
      }),
    );
    await this.#pool.stop();
  }

  async #claim(): Promise<void> {
    const { store, ports, serverEpoch } = this.#deps;
    const runnerEpoch = `r-${randomUUID()}`;
    const claimed = await store.runs.claim({ serverEpoch, runnerEpoch });
    if (!claimed) return;
    if (this.#stopped) {
      // Claimed while the server was told to stop: the run goes back in line.
      await store.runs.runnerEnded({ runnerEpoch, outcome: "stopped", error: null });
      return;
    }
    const entry: Active = {
      claimed,
      startedAt: ports.clock.now(),
      session: undefined,
      worker: undefined,
      done: Promise.resolve(),
    };
    this.#active.set(runnerEpoch, entry);
    entry.done = this.#run(entry).finally(() => {
      this.#active.delete(runnerEpoch);
      this.wake();
      this.#deps.wake.views();
      this.#deps.wake.channels();
    });
  }

  async #run(entry: Active): Promise<void> {
    const { store, log } = this.#deps;
    const { claim } = entry.claimed;
    try {
      const exit = await this.#converse(entry);
      // It ended in order, with its row closed, and its process serves another launch.
      if (exit === "released") return;
      const session = entry.session;
      const end = session?.end ?? "stopped";
      const crashed = end === "open";
      const error = session?.error ?? (crashed ? crashError(claim.runId, exit) : undefined);
      if (crashed) {
        log.warn({ run: claim.runId, code: exit?.code, signal: exit?.signal }, "runner crashed");
        this.#deps.crashes.add("runner", claim.runId, exit);
      }
      // A process that had served others and did not even begin says nothing about this run.
      const absent = crashed && session?.ready === false && (entry.worker?.launches ?? 0) > 1;
      const ended = await untilWritten(this.#deps, "the end of a runner", () =>
        store.runs.runnerEnded({
          runnerEpoch: claim.runnerEpoch,
          outcome: absent ? "absent" : outcomeOf(session, crashed),
          held: session?.held,
          error: error ? toErrorRecord(error) : null,
          bySignal: crashed && session?.error === undefined && exit !== null && exit.signal !== null,
        }),
      );
      log.debug({ run: claim.runId, end, queue: ended.queue }, "runner ended");
    } catch (error) {
      log.error({ run: claim.runId, error: String(error) }, "watching a runner failed");
    }
  }

  /** Finds a runner, talks; resolves with the exit of its process, null if none could be started, or when it was released. */
  async #converse(entry: Active): Promise<ChildExit | "released" | null> {
    const { log } = this.#deps;
    const { claimed } = entry;
    const { claim, sources } = claimed;
    let worker: Worker;
    try {
      worker = await this.#workerFor(claimed);
      // Without them a runner can still use the original files, if they are the same.
      if (sources !== null)
        await this.#deps.approved.layOut(sources).catch((error: unknown) => this.#notLaidOut(error));
    } catch (error) {
      log.error({ run: claim.runId, error: String(error) }, "runner could not be started");
      return null;
    }
    entry.worker = worker;
    worker.begin(claim);
    const session = new RunSession(this.#deps, claimed, worker.child);
    entry.session = session;
    const startGuard = setTimeout(() => {
      session.error = new HoldpointError(
        "runnerTimedOut",
        `The runner of ${claim.runId} was not ready within ${PROCESS.readyMs} ms.`,
      );
      void worker.end();
    }, PROCESS.readyMs);
    let leaveGuard: NodeJS.Timeout | undefined;
    session.onReady = () => clearTimeout(startGuard);
    session.onEnd = () => {
      clearTimeout(startGuard);
      // One that does not give way does not hear that it is to leave.
      if (session.held !== undefined) void worker.end();
      else leaveGuard = setTimeout(() => void worker.end(), LEAVE_MS);
      this.#deps.wake.views();
      this.#deps.wake.runs();
      // Cards tell that the run has ended or waits for an operator.
      this.#deps.wake.channels();
    };
    if (this.#stopped) session.stop("the server stops");
    else session.start();
    const exit = await Promise.race([worker.gone, session.released.then(() => "released" as const)]);
    session.over();
    clearTimeout(startGuard);
    clearTimeout(leaveGuard);
    if (exit === "released") this.#keep(worker, session);
    return exit;
  }

  /** An idle runner of the same sources, or a new one. */
  async #workerFor(claimed: Launch): Promise<Worker> {
    const { claim, sources, workflowPath } = claimed;
    const idle = sources === null ? await this.#pool.takeFor(workflowPath, sameOnDisk) : this.#pool.take(sources);
    if (idle !== undefined) return idle;
    this.#pool.shrink(this.capacity - this.#active.size);
    return Worker.start(this.#deps, claim.runId);
  }

  #keep(worker: Worker, session: RunSession): void {
    worker.released();
    const { sources, workflowPath } = session;
    if (this.#stopped || sources === null) return void worker.end();
    this.#pool.keep(worker, workflowPath, sources);
    // This launch still counts as active.
    this.#pool.shrink(this.capacity - this.#active.size + 1);
  }

  #notLaidOut(error: unknown): void {
    this.#deps.log.error({ error: String(error) }, "approved sources could not be laid out");
  }

  #armRenewal(): void {
    const { ports, store, log } = this.#deps;
    this.#renewTimer = ports.clock.timer(ports.clock.now() + LEASE.renewMs, () => {
      if (this.#stopped) return;
      const claims = [...this.#active.values()]
        .filter((entry) => (entry.session?.end ?? "open") === "open")
        .map((entry) => entry.claimed.claim);
      if (claims.length > 0)
        void store.runs
          .renew({ claims })
          .catch((error: unknown) => log.error({ error: String(error) }, "renewing claims failed"));
      this.#armRenewal();
    });
  }
}

function outcomeOf(session: RunSession | undefined, crashed: boolean): RunnerEnded["outcome"] {
  if (session?.held !== undefined || session?.error?.kind === "runnerTimedOut") return "timedOut";
  // A proposal that was refused is the runner's failure to advance, not a stop by us.
  if (crashed || (session?.end === "stopped" && session.error)) return "crashed";
  return session === undefined || session.end === "stopped" ? "stopped" : "exited";
}

function crashError(runId: string, exit: ChildExit | null): HoldpointError {
  if (!exit) return new HoldpointError("childStart", `The runner of ${runId} could not be started.`);
  const how = exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
  const tail = gist(exit.diagnostic);
  return new HoldpointError("runnerCrashed", `The runner of ${runId} ${how}${tail ? `: ${tail}` : ""}.`);
}
