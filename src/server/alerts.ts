/** Does what time alone changes in alerts: reminders, the end of a snooze or of unrest. The timer only wakes; what is due is read each time. */
import type { Store } from "../state/store.ts";
import type { AccessSource, Wake } from "./context.ts";
import type { Clock, Log, Timer } from "./ports.ts";
import { Pump } from "./pump.ts";

export interface AlertTimesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly access: AccessSource;
}

export class AlertTimes {
  readonly #deps: AlertTimesDeps;
  readonly #pump: Pump;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(deps: AlertTimesDeps) {
    this.#deps = deps;
    this.#pump = new Pump({ work: () => this.#run(), clock: deps.clock, log: deps.log, what: "looking after alerts" });
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
    for (;;) {
      const at = store.read.alerts.nextAt();
      if (at === null || this.#stopped) return;
      if (at > clock.now()) {
        this.#timer = clock.timer(at, () => this.wake());
        return;
      }
      const { tended } = await store.alerts.tend({ access: access() });
      log.info({ alerts: tended }, "alerts changed by time");
      wake.channels();
      // Nothing was due after all: the clock stepped back. The next wake-up looks again.
      if (tended === 0) return;
    }
  }
}
