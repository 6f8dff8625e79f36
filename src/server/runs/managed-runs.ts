/**
 * Runs that resource managers ask for, on the server's side: started once per owner and stable key, observed at any time, and
 * completed by a command of their own when the run has ended, also when the server died in between.
 */
import { isHoldpointError, toErrorRecord } from "../../contracts/errors.ts";
import type { ManagedRequest, ManagedRun, Store } from "../../state/store.ts";
import type { Wake } from "../context.ts";
import type { Log } from "../ports.ts";

export interface ManagedRunsDeps {
  readonly store: Store;
  readonly log: Log;
  readonly wake: Pick<Wake, "runs" | "views" | "channels">;
  /** Resolves when the processes of a runner that lost its run are gone. */
  readonly stopRunner: (runnerEpoch: string) => Promise<void>;
}

export class ManagedRuns {
  /** Called after a run of an owner was completed, once for each run and server. */
  onCompleted: (run: ManagedRun) => void = () => undefined;
  readonly #deps: ManagedRunsDeps;
  #woken = false;
  #busy = false;
  #again = false;
  #stopped = false;

  constructor(deps: ManagedRunsDeps) {
    this.#deps = deps;
  }

  /** The run of a request, started if it is new. Throws `idempotencyConflict` for a known key with another workflow or input. */
  async ensure(request: ManagedRequest): Promise<ManagedRun> {
    const run = await this.#deps.store.managed.ensure(request);
    this.#deps.wake.runs();
    return run;
  }

  /** Ends a run for its owner, with its questions; one that has ended stays as it is. Resolves when its processes are gone. */
  async cancel({ owner, requestId, runId }: ManagedRun, reason: string | null): Promise<ManagedRun> {
    const { stopRunner, store, wake } = this.#deps;
    const actor = { type: "controller", id: owner } as const;
    try {
      const { stop } = await store.runs.cancel({ run: runId, reason, expectedRevision: null, receipt: null, actor });
      if (stop !== null) await stopRunner(stop.runnerEpoch);
    } catch (error) {
      // It has ended by itself meanwhile, or an earlier pass cancelled it and died.
      if (!isHoldpointError(error) || error.kind !== "runState") throw error;
    }
    wake.runs();
    wake.channels();
    wake.views();
    return store.managed.complete({ requestId });
  }

  /** What became of a request so far; null for one that was never made. */
  observe(owner: string, requestKey: string): ManagedRun | null {
    return this.#deps.store.read.managed.get(owner, requestKey);
  }

  /** Completes what has ended, once for all calls of one turn of the event loop; safe to call at any time. */
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
    if (this.#busy) {
      this.#again = true;
      return;
    }
    const due = this.#deps.store.read.managed.due();
    if (due.length === 0) return;
    this.#busy = true;
    void this.#complete(due)
      .catch((error: unknown) =>
        this.#deps.log.error({ error: toErrorRecord(error) }, "completing managed runs failed"),
      )
      .finally(() => {
        this.#busy = false;
        if (this.#again) {
          this.#again = false;
          this.wake();
        }
      });
  }

  stop(): void {
    this.#stopped = true;
  }

  async #complete(due: readonly { readonly requestId: string }[]): Promise<void> {
    const { log, store } = this.#deps;
    let completed = 0;
    for (const { requestId } of due) {
      try {
        const run = await store.managed.complete({ requestId });
        completed += 1;
        log.info({ owner: run.owner, run: run.runId, status: run.status }, "managed run completed");
        this.onCompleted(run);
      } catch (error) {
        // The later ones are not to wait for it; it is tried again with the next look.
        log.error({ request: requestId, error: toErrorRecord(error) }, "completing a managed run failed");
      }
    }
    // There may be more than a page.
    if (completed > 0) this.#again = true;
  }
}
