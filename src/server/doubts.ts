/** Looks after messages whose arrival nobody knows, when their time comes. The timer only wakes; what is due is read each time. */
import type { Store } from "../state/store.ts";
import type { AccessSource, Wake } from "./context.ts";
import type { Clock, Log, Timer } from "./ports.ts";
import { Pump } from "./pump.ts";

export interface DoubtDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly access: AccessSource;
}

export class Doubts {
  readonly #deps: DoubtDeps;
  readonly #pump: Pump;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(deps: DoubtDeps) {
    this.#deps = deps;
    this.#pump = new Pump({ work: () => this.#run(), clock: deps.clock, log: deps.log, what: "looking after doubts" });
  }

  /** Safe to call at any time. */
  wake(): void {
    if (!this.#stopped) this.#pump.wake();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    void this.#pump.stop();
  }

  async #run(): Promise<void> {
    const { access, clock, log, store, wake } = this.#deps;
    this.#timer?.cancel();
    this.#timer = undefined;
    const at = store.read.effects.nextDoubtAt(access());
    if (at === null || this.#stopped) return;
    if (at > clock.now()) {
      this.#timer = clock.timer(at, () => this.wake());
      return;
    }
    const done = await store.effects.tendDoubts({ access: access() });
    log.info(done, "messages whose arrival is not known");
    // Looks for the next one as well.
    wake.channels();
    wake.views();
  }
}
