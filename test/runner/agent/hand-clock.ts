/** Timers that a test moves by hand. */
import type { EngineTimers } from "../../../src/workflow/engine/index.ts";

export class HandClock implements EngineTimers {
  #now = 0;
  readonly #timers = new Set<{ readonly at: number; readonly call: () => void }>();
  /** Called whenever a timer is set. */
  onArmed: () => void = () => {};

  get armed(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { at: this.#now + ms, call };
    this.#timers.add(timer);
    this.onArmed();
    return () => void this.#timers.delete(timer);
  }

  advance(ms: number): void {
    this.#now += ms;
    for (const timer of [...this.#timers].filter(({ at }) => at <= this.#now)) {
      this.#timers.delete(timer);
      timer.call();
    }
  }
}
