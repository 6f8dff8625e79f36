/**
 * Wakes sleeping runs. The timer only looks; what is due is read from the database each time, so that a restart or a machine that slept
 * needs nothing of its own.
 */
import { toErrorRecord } from "../../contracts/errors.ts";
import type { Store } from "../../state/store.ts";
import type { Wake } from "../context.ts";
import type { Clock, Log, Timer } from "../ports.ts";
import { Pump } from "../pump.ts";

const AGAIN_MS = 1_000;

export interface SleepersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Pick<Wake, "runs" | "views">;
}

export class Sleepers {
  readonly #deps: SleepersDeps;
  readonly #pump: Pump;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(deps: SleepersDeps) {
    this.#deps = deps;
    this.#pump = new Pump({ work: () => this.#run(), clock: deps.clock, log: deps.log, what: "waking runs" });
  }

  /** Wakes what is due and arms the next one; safe to call at any time. */
  wake(): void {
    this.#pump.wake();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#pump.stop();
  }

  async #run(): Promise<void> {
    const { clock, log, store, wake } = this.#deps;
    this.#timer?.cancel();
    this.#timer = undefined;
    const due = store.read.timers.due(clock.now());
    let failures = 0;
    // One that cannot be woken keeps no other from it.
    await Promise.all(
      due.map(async ({ timerId }) => {
        try {
          const { kind } = await store.timers.fire({ timerId });
          log.info({ timer: timerId, verdict: kind }, "a run was to wake");
        } catch (error) {
          failures += 1;
          log.error({ timer: timerId, error: toErrorRecord(error) }, "a run could not be woken");
        }
      }),
    );
    if (due.length > 0) {
      wake.runs();
      wake.views();
    }
    const next = store.read.timers.nextDue();
    if (next === null || this.#stopped) return;
    // Those that failed are still due, and are tried again after a while.
    if (failures > 0) this.#timer = clock.timer(clock.now() + AGAIN_MS, () => this.wake());
    else if (next > clock.now()) this.#timer = clock.timer(next, () => this.wake());
    else this.#pump.wake();
  }
}
