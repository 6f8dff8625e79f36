/**
 * The life of one instance of the extension, from its session's start to its end. Everything that runs later (events,
 * timers, promises) goes through here: after the end nothing runs, and an error of ours never reaches Pi, which it would
 * end. A context of a session that is over throws at any use; so it is forgotten at the end, never kept beside this.
 */
import type { PiContext } from "./pi-api.ts";

/** Errors of our own that are kept to be told; more of them say nothing new. */
const KEPT = 20;

export class Life {
  /** Where an error happened and what it says, the newest last; shown by `/workflow-channel status`. */
  readonly troubles: string[] = [];
  readonly #stop = new AbortController();
  readonly #timers = new Set<NodeJS.Timeout>();
  #context: PiContext | undefined;

  /** Aborted at the end. */
  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  get over(): boolean {
    return this.#stop.signal.aborted;
  }

  /** The newest context of the session; undefined before it began and after it ended. */
  get context(): PiContext | undefined {
    return this.over ? undefined : this.#context;
  }

  /** Remembers the context that an event came with. */
  see(context: PiContext): void {
    if (!this.over) this.#context = context;
  }

  end(): void {
    this.#stop.abort();
    this.#context = undefined;
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers.clear();
  }

  /** Runs something now; an error is kept as a trouble, and the result is then undefined. Nothing runs after the end. */
  try<T>(what: string, run: () => T): T | undefined {
    if (this.over) return undefined;
    try {
      return run();
    } catch (error) {
      this.trouble(what, error);
      return undefined;
    }
  }

  /** The same for what takes a while. Never rejects. */
  async attempt<T>(what: string, run: () => Promise<T>): Promise<T | undefined> {
    if (this.over) return undefined;
    try {
      return await run();
    } catch (error) {
      this.trouble(what, error);
      return undefined;
    }
  }

  /** Begins something whose end nobody waits for. */
  begin(what: string, run: () => Promise<unknown>): void {
    void this.attempt(what, run);
  }

  /** Runs once after so many milliseconds, unless the life ended before. The timer keeps no process alive. */
  after(ms: number, what: string, run: () => void): NodeJS.Timeout {
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      this.try(what, run);
    }, ms);
    timer.unref();
    this.#timers.add(timer);
    return timer;
  }

  cancel(timer: NodeJS.Timeout | undefined): void {
    if (timer === undefined) return;
    clearTimeout(timer);
    this.#timers.delete(timer);
  }

  /** Resolves after so many milliseconds, or at the end. */
  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (this.over) return resolve();
      const done = (): void => {
        this.cancel(timer);
        this.signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = this.after(ms, "pause", done);
      this.signal.addEventListener("abort", done, { once: true });
    });
  }

  trouble(what: string, error: unknown): void {
    // What fails because the session ended meanwhile is no trouble.
    if (this.over) return;
    this.troubles.push(`${what}: ${error instanceof Error ? error.message : String(error)}`);
    if (this.troubles.length > KEPT) this.troubles.shift();
  }
}
