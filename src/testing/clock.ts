/** A clock that stands still until the test moves it. */
import type { EngineTimers } from "../workflow/engine/index.ts";

interface Timer {
  readonly due: number;
  readonly order: number;
  readonly call: () => void;
}

export class FakeClock implements EngineTimers {
  #now: number;
  #timers: Timer[] = [];
  #order = 0;

  /** @param now milliseconds since the epoch at which it stands first. */
  constructor(now: number = Date.UTC(2030, 0, 1)) {
    this.#now = now;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.#now;
  }

  after(ms: number, call: () => void): () => void {
    const timer = { due: this.#now + Math.max(0, ms), order: this.#order++, call };
    this.#timers.push(timer);
    return () => void (this.#timers = this.#timers.filter((other) => other !== timer));
  }

  /** Resolves when the test has moved the clock so far; rejects when the signal is aborted before. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const stop = this.after(ms, resolve);
      signal?.addEventListener("abort", () => {
        stop();
        reject(signal.reason as Error);
      });
    });
  }

  /** Moves on: whatever becomes due happens in order, each with all that follows from it at once. */
  async advance(ms: number): Promise<void> {
    const until = this.#now + ms;
    await turns();
    for (;;) {
      const next = this.#timers.filter(({ due }) => due <= until).sort((a, b) => a.due - b.due || a.order - b.order)[0];
      if (next === undefined) break;
      this.#timers = this.#timers.filter((timer) => timer !== next);
      this.#now = Math.max(this.#now, next.due);
      next.call();
      await turns();
    }
    this.#now = until;
  }
}

/** Lets everything that needs no time happen: promises, and work that was put off to the next turn of the loop. */
export async function turns(count = 20): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve));
}
