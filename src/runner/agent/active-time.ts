/** The time limit of an attempt: it counts while a turn is going on, and stands still otherwise. */
import type { EngineTimers } from "../../workflow/engine/index.ts";

export class ActiveTime {
  /** Resolves when the time is used up; never without a limit. */
  readonly over: Promise<void>;
  readonly #timers: EngineTimers;
  #resolve!: () => void;
  /** What is left, at the beginning of the turn that goes on. */
  #leftMs: number | null;
  /** Of the turn that goes on. */
  #turn: { readonly beganAt: number; readonly disarm: () => void } | undefined;

  /** @param limitMs milliseconds; null for no limit. */
  constructor(limitMs: number | null, timers: EngineTimers) {
    this.#leftMs = limitMs;
    this.#timers = timers;
    this.over = new Promise((resolve) => (this.#resolve = resolve));
  }

  /** A turn begins. */
  begin(): void {
    this.end();
    if (this.#leftMs === null) return;
    const beganAt = this.#timers.now();
    this.#turn = { beganAt, disarm: this.#timers.after(Math.max(0, this.#leftMs), this.#resolve) };
  }

  /** No turn is going on; repeating it changes nothing. */
  end(): void {
    if (this.#turn === undefined || this.#leftMs === null) return;
    this.#turn.disarm();
    this.#leftMs -= this.#timers.now() - this.#turn.beganAt;
    this.#turn = undefined;
  }
}
