/**
 * Idle runners that may take another launch of the same sources: engine and transpiled code are in memory. Each is kept
 * for a while, the newest is used first, and together with the busy ones they never exceed the slots of the lane.
 */
import { WARM } from "../../contracts/limits.ts";
import type { SourceFile } from "../../contracts/definition.ts";
import type { ChildExit, Clock, Log, Timer } from "../ports.ts";
import type { FromRunner, ToRunner } from "../../contracts/protocol/runner.ts";
import type { Worker } from "./worker.ts";

interface Idle<In, Out> {
  readonly worker: Worker<In, Out>;
  readonly key: string;
  readonly workflowPath: string;
  readonly sources: readonly SourceFile[];
  timer: Timer;
}

export class RunnerPool<In = FromRunner, Out = ToRunner> {
  readonly #clock: Clock;
  readonly #log: Log;
  /** The newest last. */
  #idle: Idle<In, Out>[] = [];
  readonly #leaving = new Set<Promise<unknown>>();
  #stopped = false;

  readonly #onLost: (worker: Worker<In, Out>, exit: ChildExit) => void;

  /** `onLost` is told of an idle runner that ended by itself. */
  constructor(clock: Clock, log: Log, onLost: (worker: Worker<In, Out>, exit: ChildExit) => void) {
    this.#clock = clock;
    this.#log = log;
    this.#onLost = onLost;
  }

  get size(): number {
    return this.#idle.length;
  }

  /** An idle runner of exactly these sources; with `place` only one that was kept for that. */
  take(sources: readonly SourceFile[], place?: string): Worker<In, Out> | undefined {
    const key = keyOf(sources);
    const found = this.#idle.findLast(
      (idle) => idle.key === key && (place === undefined || idle.workflowPath === place),
    );
    return found && this.#remove(found);
  }

  /**
   * An idle runner for a first start of a file: one whose sources are, as `unchanged` finds, the bytes on the disk. One
   * with others is ended, as it cannot be of use again.
   */
  async takeFor(
    workflowPath: string,
    unchanged: (sources: readonly SourceFile[]) => Promise<boolean>,
  ): Promise<Worker<In, Out> | undefined> {
    for (;;) {
      const found = this.#idle.findLast((idle) => idle.workflowPath === workflowPath);
      if (found === undefined) return undefined;
      const worker = this.#remove(found);
      if ((await unchanged(found.sources)) && !worker.ended) return worker;
      this.#end(worker);
    }
  }

  /** Keeps a runner that is ready for another launch. */
  keep(worker: Worker<In, Out>, workflowPath: string, sources: readonly SourceFile[]): void {
    if (this.#stopped || worker.ended) return this.#end(worker);
    const idle: Idle<In, Out> = { worker, key: keyOf(sources), workflowPath, sources, timer: NO_TIMER };
    this.#idle.push(idle);
    this.#arm(idle, this.#clock.now() + WARM.idleMs);
    // Nothing may come from it now; a process that ends is no loss.
    worker.child.port.onFrame(() => this.#end(this.#remove(idle)));
    void this.#watch(idle);
  }

  /** Ends the oldest ones until at most `count` are left. */
  shrink(count: number): void {
    while (this.#idle.length > Math.max(0, count)) this.#end(this.#remove(this.#idle[0] as Idle<In, Out>));
  }

  /** Ends all; resolves when they are gone. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.shrink(0);
    await Promise.all(this.#leaving);
  }

  async #watch(idle: Idle<In, Out>): Promise<void> {
    const exit = await idle.worker.gone;
    if (this.#idle.includes(idle)) this.#onLost(this.#remove(idle), exit);
  }

  #arm(idle: Idle<In, Out>, at: number): void {
    idle.timer = this.#clock.timer(at, () => {
      if (!this.#idle.includes(idle)) return;
      if (this.#clock.now() < at) return this.#arm(idle, at);
      this.#log.debug({ pid: idle.worker.child.pid }, "an idle runner is ended");
      this.#end(this.#remove(idle));
    });
  }

  #remove(idle: Idle<In, Out>): Worker<In, Out> {
    this.#idle = this.#idle.filter((other) => other !== idle);
    idle.timer.cancel();
    return idle.worker;
  }

  #end(worker: Worker<In, Out>): void {
    const leaving = worker.end().finally(() => this.#leaving.delete(leaving));
    this.#leaving.add(leaving);
  }
}

const NO_TIMER: Timer = { cancel: () => undefined };

function keyOf(sources: readonly SourceFile[]): string {
  return JSON.stringify(sources.map(({ path, sha256 }) => [path, sha256]));
}
