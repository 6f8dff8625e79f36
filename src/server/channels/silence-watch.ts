/**
 * An adapter that sends nothing at all: its polls end by guards of its own, so a healthy one is heard of every minute or so. One that is
 * silent for longer is asked for a sign of life, which takes it no time whatever it waits for, and is ended when none comes.
 *
 * The clock says when to ask; the answer is waited for in real time, so that neither a sleep of the machine nor a clock that jumps ends an
 * adapter that works.
 */
import { ADAPTER } from "../../contracts/limits.ts";
import type { Clock, Timer } from "../ports.ts";

export interface SilenceWatchDeps {
  readonly clock: Clock;
  readonly ping: () => void;
  /** No sign of life came. Called once. */
  readonly onSilent: () => void;
}

export class SilenceWatch {
  readonly #deps: SilenceWatchDeps;
  #heardAt: number;
  #timer: Timer | undefined;
  #waiting: NodeJS.Timeout | undefined;

  /** Watches from now on. */
  constructor(deps: SilenceWatchDeps) {
    this.#deps = deps;
    this.#heardAt = deps.clock.now();
    this.#look();
  }

  /** Anything came from the adapter. */
  heard(): void {
    this.#heardAt = this.#deps.clock.now();
    if (this.#waiting === undefined) return;
    clearTimeout(this.#waiting);
    this.#waiting = undefined;
    this.#look();
  }

  stop(): void {
    this.#timer?.cancel();
    clearTimeout(this.#waiting);
  }

  #look(): void {
    const { clock } = this.#deps;
    const at = this.#heardAt + ADAPTER.silentMs;
    if (clock.now() < at) {
      this.#timer = clock.timer(at, () => this.#look());
      return;
    }
    this.#deps.ping();
    this.#wait();
  }

  #wait(): void {
    const asked = performance.now();
    this.#waiting = setTimeout(() => {
      // This process did not run either: the answer may lie in the pipe.
      if (performance.now() - asked > 2 * ADAPTER.signOfLifeMs) this.#wait();
      else this.#deps.onSilent();
    }, ADAPTER.signOfLifeMs);
    this.#waiting.unref();
  }
}
