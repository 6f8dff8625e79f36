/** Watched runs: their view is computed from domain rows at most every 250 ms, and sent when it changed. */
import { CLIENT } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { toErrorRecord } from "../../contracts/errors.ts";
import type { Store } from "../../state/store.ts";
import type { AccessSource } from "../context.ts";
import type { Clock, Log } from "../ports.ts";
import type { Send } from "../gateway/connection.ts";
import { runView } from "./run-view.ts";

interface Watch {
  readonly runId: string;
  readonly send: Send;
  last: string;
}

export class RunWatchers {
  readonly #watches = new Set<Watch>();
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #access: AccessSource;
  #scheduled = false;
  #lastRun = 0;
  #stopped = false;

  constructor(store: Store, clock: Clock, log: Log, access: AccessSource) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
    this.#access = access;
  }

  /** Sends the view at once and after each change; returns the end of the watch. */
  watch(runId: string, send: Send): () => void {
    const watch: Watch = { runId, send, last: "" };
    this.#watches.add(watch);
    this.#publish(watch);
    return () => this.#watches.delete(watch);
  }

  /** Something changed; publishing is spaced, the last change is never lost. Spacing is real time: it only paces a screen. */
  wake(): void {
    if (this.#watches.size === 0 || this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    const wait = Math.max(0, this.#lastRun + CLIENT.viewMs - performance.now());
    setTimeout(() => {
      this.#scheduled = false;
      this.#lastRun = performance.now();
      for (const watch of this.#watches) this.#publish(watch);
    }, wait).unref();
  }

  stop(): void {
    this.#stopped = true;
    this.#watches.clear();
  }

  #publish(watch: Watch): void {
    try {
      const view = runView(this.#store, watch.runId, this.#clock.now(), this.#access());
      const text = JSON.stringify(view);
      if (text === watch.last) return;
      if (watch.send(view as unknown as JsonValue)) watch.last = text;
      else setImmediate(() => this.wake());
    } catch (error) {
      // One view that cannot be made ends its own watch only, and says so.
      this.#log.error({ run: watch.runId, error: toErrorRecord(error) }, "view failed");
      this.#watches.delete(watch);
      watch.send({ ...toErrorRecord(error) } as JsonValue, "unavailable");
    }
  }
}
