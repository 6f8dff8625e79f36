/** Applies what a decision's policy does by time: timeouts, reminders, escalation. The timer only wakes; what is due is read from the database each time. */
import type { Store } from "../state/store.ts";
import type { AccessSource, Wake } from "./context.ts";
import type { Hearing } from "./hearing.ts";
import type { Clock, Log, Timer } from "./ports.ts";
import { Pump } from "./pump.ts";

export interface DeadlineDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly access: AccessSource;
  readonly hearing: Hearing;
}

export class DecisionDeadlines {
  readonly #deps: DeadlineDeps;
  readonly #pump: Pump;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(deps: DeadlineDeps) {
    this.#deps = deps;
    this.#pump = new Pump({ work: () => this.#run(), clock: deps.clock, log: deps.log, what: "applying timeouts" });
  }

  /** Looks for what is due and arms the next one; safe to call at any time. */
  wake(): void {
    this.#pump.wake();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.cancel();
    void this.#pump.stop();
  }

  async #run(): Promise<void> {
    const { store, clock, log, wake, access, hearing } = this.#deps;
    this.#timer?.cancel();
    this.#timer = undefined;
    // A machine that slept wakes here first: what came in meanwhile is heard before anything times out.
    hearing.tick();
    if (!hearing.waiting) {
      const due = store.read.decisions.due(clock.now());
      await Promise.all(
        due.map(async ({ decisionId }) => {
          const verdict = await store.decisions.expire({ decisionId, access: access() });
          log.info({ decision: decisionId, verdict: verdict.kind }, "deadline reached");
        }),
      );
      const notices = store.read.decisions.dueNotices(clock.now());
      await Promise.all(
        notices.map(async ({ decisionId, what }) => {
          const { kind } = await store.decisions[what]({ decisionId, access: access() });
          log.info({ decision: decisionId, what, verdict: kind }, "policy applied");
        }),
      );
      if (due.length > 0 || notices.length > 0) {
        wake.runs();
        wake.channels();
        wake.views();
      }
    }
    const next = store.read.decisions.nextDue();
    if (next === null || this.#stopped) return;
    // While the channels hand over their backlog, the end of that window wakes us instead.
    if (next > clock.now()) this.#timer = clock.timer(next, () => this.wake());
    else if (!hearing.waiting) this.#pump.wake();
  }
}
