/**
 * The run lane: claims due runs while slots are free, launches a runner for each, watches it, and decides with the store what
 * becomes of a run whose runner ended. Continuations go before new starts (the queue's order).
 */
import { randomUUID } from "node:crypto";
import { cpus } from "node:os";
import { HoldpointError, toErrorRecord } from "../../contracts/errors.ts";
import { LANES, LEASE, PROCESS } from "../../contracts/limits.ts";
import { fromRunnerSchema, type FromRunner, type ToRunner } from "../../contracts/protocol/runner.ts";
import type { Launch } from "../../state/store.ts";
import type { Child, ChildExit, Ports, Timer } from "../ports.ts";
import type { CrashLog } from "../crash-log.ts";
import { Pump } from "../pump.ts";
import { untilWritten } from "../until-written.ts";
import { RunSession, type RunSessionDeps } from "./run-session.ts";

/** A runner that was told to end gets this long before its group is stopped. */
const LEAVE_MS = 1_000;

export interface SchedulerDeps extends RunSessionDeps {
  readonly ports: Ports;
  readonly serverEpoch: number;
  readonly crashes: CrashLog;
  readonly maxRuns: number | undefined;
}

interface Active {
  readonly claimed: Launch;
  readonly startedAt: number;
  session: RunSession | undefined;
  child: Child<FromRunner, ToRunner> | undefined;
  /** Resolves when everything about this launch is written down. */
  done: Promise<void>;
}

export class RunScheduler {
  readonly capacity: number;
  readonly #deps: SchedulerDeps;
  /** By runner epoch. */
  readonly #active = new Map<string, Active>();
  readonly #pump: Pump;
  #stopped = false;
  #dueTimer: Timer | undefined;
  #renewTimer: Timer | undefined;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.#pump = new Pump({ work: () => this.#fill(), clock: deps.clock, log: deps.log, what: "claiming runs" });
    this.capacity = deps.maxRuns ?? Math.min(LANES.runsMax, Math.max(LANES.runsMin, cpus().length * LANES.runsPerCore));
  }

  start(): void {
    this.#armRenewal();
    this.wake();
  }

  get active(): { runId: string; pid: number | null; startedAt: number }[] {
    return [...this.#active.values()].map((entry) => ({
      runId: entry.claimed.claim.runId,
      pid: entry.child?.pid ?? null,
      startedAt: entry.startedAt,
    }));
  }

  /** Looks for due runs; safe to call at any time. */
  wake(): void {
    this.#pump.wake();
  }

  /** Ends the runner of a launch because its run was paused or cancelled; resolves when its processes are gone. */
  async stopRunner(runnerEpoch: string, reason: string): Promise<void> {
    const entry = this.#active.get(runnerEpoch);
    if (!entry) return;
    entry.session?.stop(reason);
    await entry.child?.stop(PROCESS.killGraceMs);
    await entry.done;
  }

  /** No new claims; every runner is told to end and waited for. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#dueTimer?.cancel();
    this.#renewTimer?.cancel();
    await this.#pump.stop();
    const entries = [...this.#active.values()];
    for (const entry of entries) entry.session?.stop("the server stops");
    await Promise.all(
      entries.map(async (entry) => {
        await entry.child?.stop(PROCESS.killGraceMs);
        await entry.done;
      }),
    );
  }

  async #fill(): Promise<void> {
    const { store, ports, serverEpoch } = this.#deps;
    this.#dueTimer?.cancel();
    this.#dueTimer = undefined;
    while (!this.#stopped && this.#active.size < this.capacity) {
      const runnerEpoch = `r-${randomUUID()}`;
      const claimed = await store.runs.claim({ serverEpoch, runnerEpoch });
      if (!claimed) {
        const at = store.read.runs.nextDueAt();
        if (at !== null) this.#dueTimer = ports.clock.timer(at, () => this.wake());
        return;
      }
      if (this.#stopped) {
        // Claimed while the server was told to stop: the run goes back in line.
        await store.runs.runnerEnded({ runnerEpoch, outcome: "stopped", error: null });
        return;
      }
      const entry: Active = {
        claimed,
        startedAt: ports.clock.now(),
        session: undefined,
        child: undefined,
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
  }

  async #run(entry: Active): Promise<void> {
    const { store, log } = this.#deps;
    const { claim } = entry.claimed;
    try {
      const exit = await this.#converse(entry);
      const session = entry.session;
      const end = session?.end ?? "stopped";
      const crashed = end === "open";
      // What we know ourselves (it never became ready, a frame was refused) says more than how the process ended.
      const error = session?.error ?? (crashed ? crashError(claim.runId, exit) : undefined);
      if (crashed) {
        log.warn({ run: claim.runId, code: exit?.code, signal: exit?.signal }, "runner crashed");
        this.#deps.crashes.add("runner", claim.runId, exit);
      }
      const ended = await untilWritten(this.#deps, "the end of a runner", () =>
        store.runs.runnerEnded({
          runnerEpoch: claim.runnerEpoch,
          // A proposal that was refused is the runner's failure to advance, not a stop by us.
          outcome:
            crashed || (end === "stopped" && session?.error) ? "crashed" : end === "stopped" ? "stopped" : "exited",
          error: error ? toErrorRecord(error) : null,
          bySignal: crashed && session?.error === undefined && (exit?.signal ?? null) !== null,
        }),
      );
      log.debug({ run: claim.runId, end, queue: ended.queue }, "runner ended");
    } catch (error) {
      log.error({ run: claim.runId, error: String(error) }, "watching a runner failed");
    }
  }

  /** Launches, registers, talks; resolves with the exit of the child, or null if it never started. */
  async #converse(entry: Active): Promise<ChildExit | null> {
    const { store, ports, serverEpoch, log } = this.#deps;
    const { claim } = entry.claimed;
    let child: Child<FromRunner, ToRunner>;
    try {
      child = await ports.launcher.launch<FromRunner, ToRunner>({
        kind: "runner",
        name: claim.runId,
        schema: fromRunnerSchema,
      });
    } catch (error) {
      log.error({ run: claim.runId, error: String(error) }, "runner could not be started");
      return null;
    }
    entry.child = child;
    const { childId, pid, startIdentity } = child;
    // Until it is registered the child does nothing: it waits for its launch.
    await untilWritten(this.#deps, "a runner's registration", () =>
      store.children.register({ childId, kind: "runner", name: claim.runId, pid, startIdentity, epoch: serverEpoch }),
    );
    const session = new RunSession(this.#deps, entry.claimed, child);
    entry.session = session;
    const startGuard = setTimeout(() => {
      session.error = new HoldpointError(
        "childStart",
        `The runner of ${claim.runId} was not ready within ${PROCESS.readyMs} ms.`,
      );
      void child.stop(PROCESS.killGraceMs);
    }, PROCESS.readyMs);
    let leaveGuard: NodeJS.Timeout | undefined;
    session.onReady = () => clearTimeout(startGuard);
    session.onEnd = () => {
      clearTimeout(startGuard);
      leaveGuard = setTimeout(() => void child.stop(PROCESS.killGraceMs), LEAVE_MS);
      this.#deps.wake.views();
      this.#deps.wake.runs();
      // Cards tell that the run has ended or waits for an operator.
      this.#deps.wake.channels();
    };
    if (this.#stopped) session.stop("the server stops");
    else session.start();
    const exit = await child.exited;
    clearTimeout(startGuard);
    clearTimeout(leaveGuard);
    // The pipe may hold frames that were sent just before the end; they have been handed over by now.
    await new Promise((resolve) => setImmediate(resolve));
    await store.idle();
    // Whatever a crashed runner left running in its group must be gone before the run is claimed again.
    await child.stop(PROCESS.killGraceMs);
    const { diagnostic } = exit;
    await untilWritten(this.#deps, "the end of a runner's process", () =>
      store.children.ended({ childId, outcome: exit.signal ?? `code ${exit.code}`, diagnostic }),
    );
    return exit;
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

function crashError(runId: string, exit: ChildExit | null): HoldpointError {
  if (!exit) return new HoldpointError("childStart", `The runner of ${runId} could not be started.`);
  const how = exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
  const tail = gist(exit.diagnostic);
  return new HoldpointError("runnerCrashed", `The runner of ${runId} ${how}${tail ? `: ${tail}` : ""}.`);
}

/** The line of a diagnostic that says what happened: the first with an error's name, else the first one. */
export function gist(diagnostic: string): string {
  const lines = diagnostic
    .trim()
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  return (
    lines.find((line) => /^(Uncaught )?[A-Z][A-Za-z]*(Error|Exception)\b|^\[HP\d+/.test(line)) ??
    lines[0] ??
    ""
  ).slice(0, 500);
}
