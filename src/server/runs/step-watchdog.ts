/**
 * Bounds nodes that never give way. A runner whose event loop goes round keeps the time limits of its nodes itself; one that
 * is silent for longer than the limit of its node is asked for a sign of life, and told on when none comes.
 *
 * Only the runner's silence counts, never the clock alone: after a sleep of the machine a live step answers and goes on.
 */
import { PROCESS } from "../../contracts/limits.ts";
import type { HeldStep } from "../../state/store.ts";
import type { Clock, Timer } from "../ports.ts";

/** A timer this much late means that the server did not run either. */
const SLEPT_MS = 5_000;

export interface WatchdogDeps {
  readonly clock: Clock;
  /** The step that is being executed by what is stored; null when none is. */
  readonly step: () => HeldStep | null;
  readonly ping: () => void;
  /** No sign of life came. Called once. */
  readonly onSilent: (step: HeldStep) => void;
}

export class StepWatchdog {
  readonly #deps: WatchdogDeps;
  #heardAt: number;
  /** The runner was asked, and has not said anything since. */
  #asked = false;
  #timer: Timer | undefined;

  /** Watches from now on. */
  constructor(deps: WatchdogDeps) {
    this.#deps = deps;
    this.#heardAt = deps.clock.now();
    this.#look();
  }

  /** Anything came from the runner. */
  heard(): void {
    this.#heardAt = this.#deps.clock.now();
    this.#asked = false;
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #look(): void {
    const step = this.#deps.step();
    // Between steps and while nothing bounds the node, it is looked again after what may bound the next.
    const now = this.#deps.clock.now();
    if (step === null) return this.#lookAt(now + PROCESS.readyMs);
    const { limitMs, shortestMs } = step;
    const over = limitMs === null ? Number.POSITIVE_INFINITY : this.#heardAt + limitMs;
    // The next node may have a shorter limit, and nobody tells us when it begins.
    if (now < over) return this.#lookAt(Math.min(over, now + shortestMs));
    this.#ask(step, now);
  }

  #ask(step: HeldStep, now: number): void {
    this.#asked = true;
    this.#deps.ping();
    this.#lookAt(now + PROCESS.signOfLifeMs, (late) => {
      if (!this.#asked) this.#look();
      // Its answer may lie in the pipe.
      else if (late > SLEPT_MS) this.#ask(step, this.#deps.clock.now());
      else this.#deps.onSilent(step);
    });
  }

  /** Timers may wake early: the clock says whether it is time. */
  #lookAt(at: number, then: (late: number) => void = () => this.#look()): void {
    const { clock } = this.#deps;
    this.#timer = clock.timer(at, () => {
      const late = clock.now() - at;
      if (late < 0) this.#lookAt(at, then);
      else then(late);
    });
  }
}
