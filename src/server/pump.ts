/**
 * Work that is woken: never twice at a time, never lost. A wake-up during the work runs it once more; an error is logged and the
 * work repeated after a while, because whoever woke us will not do so again.
 */
import type { Clock, Log, Timer } from "./ports.ts";

const AGAIN_MIN_MS = 1_000;
const AGAIN_MAX_MS = 30_000;

export class Pump {
  readonly #work: () => Promise<void>;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #what: string;
  #running: Promise<void> | null = null;
  #again = false;
  #failures = 0;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(options: { work: () => Promise<void>; clock: Clock; log: Log; what: string }) {
    this.#work = options.work;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#what = options.what;
  }

  wake(): void {
    if (this.#stopped) return;
    if (this.#running) {
      this.#again = true;
      return;
    }
    this.#running = this.#once().finally(() => {
      this.#running = null;
      if (!this.#again) return;
      this.#again = false;
      this.wake();
    });
  }

  /** Resolves when nothing is at work and no wake-up waits. */
  async idle(): Promise<void> {
    while (this.#running !== null) await this.#running;
  }

  /** No further work; resolves when what runs has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#running;
  }

  async #once(): Promise<void> {
    try {
      await this.#work();
      this.#failures = 0;
    } catch (error) {
      const wait = Math.min(AGAIN_MAX_MS, AGAIN_MIN_MS * 2 ** Math.min(this.#failures, 10));
      this.#failures += 1;
      this.#log.error({ error: String(error), againInMs: wait }, `${this.#what} failed`);
      this.#timer?.cancel();
      if (!this.#stopped) this.#timer = this.#clock.timer(this.#clock.now() + wait, () => this.wake());
    }
  }
}
