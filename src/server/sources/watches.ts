/**
 * Files and folders that are watched. A change wakes the resource at once, and a row of changes once more at its end. A watcher is never
 * closed inside one of its own events: that leaves a process hanging.
 */
import { watch, type FSWatcher } from "chokidar";
import { messageOf } from "../../contracts/errors.ts";
import { SOURCE } from "../../contracts/limits.ts";
import type { WatchSource } from "../../contracts/source.ts";
import type { Clock, Log, Timer } from "../ports.ts";

interface Watched {
  readonly text: string;
  readonly watcher: FSWatcher;
  quiet: Timer | undefined;
  again: boolean;
}

export class Watches {
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #changed: (name: string, source: WatchSource) => void;
  readonly #watched = new Map<string, Watched>();

  constructor(clock: Clock, log: Log, changed: (name: string, source: WatchSource) => void) {
    this.#clock = clock;
    this.#log = log;
    this.#changed = changed;
  }

  /** Watches these from now on. Each that is new wakes its resource once: what changed before, nobody saw. */
  async apply(sources: ReadonlyMap<string, WatchSource>): Promise<void> {
    const gone = [...this.#watched].filter(([name, { text }]) => textOf(sources.get(name)) !== text);
    for (const [name] of gone) this.#watched.get(name)?.quiet?.cancel();
    for (const [name] of gone) this.#watched.delete(name);
    await Promise.all(gone.map(([, { watcher }]) => watcher.close()));
    for (const [name, source] of sources) if (!this.#watched.has(name)) this.#begin(name, source);
  }

  async stop(): Promise<void> {
    await this.apply(new Map());
  }

  #begin(name: string, source: WatchSource): void {
    const watcher = watch(source.path, {
      ignoreInitial: true,
      depth: source.depth,
      followSymlinks: false,
      ignored: (path) => /(^|\/)(node_modules|\.git)(\/|$)/.test(path.slice(source.path.length)),
    });
    const watched: Watched = { text: textOf(source), watcher, quiet: undefined, again: false };
    this.#watched.set(name, watched);
    watcher.on("all", () => this.#event(name, source, watched));
    watcher.on("error", (error) => this.#log.error({ source: name, error: messageOf(error) }, "a watched path fails"));
    this.#changed(name, source);
  }

  #event(name: string, source: WatchSource, watched: Watched): void {
    if (watched.quiet !== undefined) {
      watched.again = true;
      return;
    }
    this.#changed(name, source);
    const pause = (): void => {
      watched.quiet = this.#clock.timer(this.#clock.now() + SOURCE.settleMs, () => {
        watched.quiet = undefined;
        if (!watched.again) return;
        watched.again = false;
        this.#changed(name, source);
        pause();
      });
    };
    pause();
  }
}

function textOf(source: WatchSource | undefined): string {
  return JSON.stringify(source) ?? "";
}
