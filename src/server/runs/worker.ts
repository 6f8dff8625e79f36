/**
 * A runner process of the server through all of its launches: started, registered, and seen to its end. Its end is known
 * only when its group, and every group that it had registered for a node, are proved gone and this is written down.
 */
import { PROCESS } from "../../contracts/limits.ts";
import { fromRunnerSchema, type FromRunner, type ToRunner } from "../../contracts/protocol/runner.ts";
import type { Store } from "../../state/store.ts";
import type { Child, ChildExit, ChildSpec, Log, Ports } from "../ports.ts";
import { untilWritten } from "../until-written.ts";

export interface WorkerDeps {
  readonly store: Store;
  readonly ports: Ports;
  readonly log: Log;
  readonly serverEpoch: number;
}

interface Begun {
  readonly runId: string;
  readonly runnerEpoch: string;
}

export class Worker<In = FromRunner, Out = ToRunner> {
  readonly child: Child<In, Out>;
  /** Resolves when everything about its end is written down; never rejects. */
  readonly gone: Promise<ChildExit>;
  /** Launches so far. */
  launches = 0;
  /** True from the exit of its process on. */
  ended = false;
  readonly #deps: WorkerDeps;
  /** Its launches that may have registered groups. */
  #open: Begun[] = [];

  private constructor(deps: WorkerDeps, child: Child<In, Out>) {
    this.#deps = deps;
    this.child = child;
    this.gone = this.#watch();
  }

  /**
   * Starts a process and registers it before it is told anything. `heapMb` bounds its heap. Rejects when it cannot be started.
   */
  static start(deps: WorkerDeps, name: string, heapMb?: number): Promise<Worker> {
    const bound = heapMb === undefined ? {} : { heapMb };
    return Worker.launch<FromRunner, ToRunner>(deps, { kind: "runner", name, schema: fromRunnerSchema, ...bound });
  }

  /** The same for any kind of child but adapters. */
  static async launch<In, Out>(
    deps: WorkerDeps,
    spec: ChildSpec<In> & { readonly kind: "runner" | "resource" },
  ): Promise<Worker<In, Out>> {
    const { ports, serverEpoch, store } = deps;
    const child = await ports.launcher.launch<In, Out>(spec);
    const worker = new Worker<In, Out>(deps, child);
    const { childId, pid, startIdentity } = child;
    const { kind, name } = spec;
    // Until it is registered the child does nothing: it waits for its launch.
    await untilWritten({ clock: ports.clock, log: deps.log }, "a runner's registration", () =>
      store.children.register({ childId, kind, name, pid, startIdentity, epoch: serverEpoch }),
    );
    return worker;
  }

  /** A launch begins. */
  begin(begun: Begun): void {
    this.launches += 1;
    this.#open.push(begun);
  }

  /** Its last launch left nothing behind. */
  released(): void {
    this.#open = [];
  }

  /** Ends the process; resolves as `gone` does. */
  end(): Promise<ChildExit> {
    void this.child.stop(PROCESS.killGraceMs);
    return this.gone;
  }

  async #watch(): Promise<ChildExit> {
    const { log, ports, store } = this.#deps;
    const exit = await this.child.exited;
    this.ended = true;
    try {
      // The pipe may hold frames that were sent just before the end; they have been handed over by now.
      await new Promise((resolve) => setImmediate(resolve));
      await store.idle();
      // Whatever it left running must be gone before a run of it is claimed again.
      await Promise.all([this.child.stop(PROCESS.killGraceMs), ...this.#open.map((begun) => this.#endGroups(begun))]);
      const outcome = exit.signal ?? `code ${exit.code}`;
      const { childId } = this.child;
      await untilWritten({ clock: ports.clock, log }, "the end of a runner's process", () =>
        store.children.ended({ childId, outcome, diagnostic: exit.diagnostic }),
      );
    } catch (error) {
      log.error({ child: this.child.childId, error: String(error) }, "the end of a runner was not written down");
    }
    return exit;
  }

  async #endGroups({ runId, runnerEpoch }: Begun): Promise<void> {
    const { ports, store } = this.#deps;
    const left = store.read.processes.alive(runnerEpoch);
    if (left.length === 0) return;
    await ports.processes.endGroups(left);
    // Agents and commands start groups of their own, which no row names.
    await ports.processes.endAgents([runId]);
    for (const { pid } of left) ports.processes.unwatch(pid);
    for (const { processId } of left) await store.processes.ended({ processId, runnerEpoch, outcome: "ended" });
  }
}
