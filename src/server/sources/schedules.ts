/**
 * Schedule sources: each occurrence wakes its resource once. Where they stand is in the database; after a sleep the occurrence that was
 * due wakes once, and those that went by meanwhile are counted, not caught up with.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import { missedBetween, nextAfter } from "../../contracts/schedule.ts";
import type { ScheduleSource } from "../../contracts/source.ts";
import type { Store } from "../../state/store.ts";
import type { Clock, Log, Timer } from "../ports.ts";
import { Pump } from "../pump.ts";

export interface ScheduleDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly zone: () => string;
  readonly woken: () => void;
}

export class Schedules {
  readonly #deps: ScheduleDeps;
  readonly #pump: Pump;
  #sources: ReadonlyMap<string, ScheduleSource> = new Map();
  #timer: Timer | undefined;
  #stopped = false;

  constructor(deps: ScheduleDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#pump = new Pump({ work: () => this.#run(), clock, log, what: "waking by schedules" });
  }

  async apply(sources: ReadonlyMap<string, ScheduleSource>): Promise<void> {
    const { clock, store, zone } = this.#deps;
    this.#sources = sources;
    const now = clock.now();
    const schedules = [...sources].flatMap(([source, { everySeconds, schedule, timeZone }]) => {
      const rhythm = { everySeconds, schedule, timeZone };
      const nextAt = nextAfter(rhythm, now, zone());
      const parts = [everySeconds ?? null, schedule ?? null, timeZone ?? zone()];
      return nextAt === null ? [] : [{ source, digest: sha256Digest(parts), nextAt }];
    });
    await store.sources.plan({ schedules });
    this.#pump.wake();
  }

  idle(): Promise<void> {
    return this.#pump.idle();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#pump.stop();
  }

  async #run(): Promise<void> {
    const { clock, log, store, woken, zone } = this.#deps;
    this.#timer?.cancel();
    this.#timer = undefined;
    const now = clock.now();
    let next: number | null = null;
    for (const { nextAt: due, source: name } of store.read.sources.schedules()) {
      const source = this.#sources.get(name);
      if (source === undefined) continue;
      let at = due;
      if (due <= now) {
        const missed = missedBetween(source, due, now, zone());
        at = nextAfter(source, now, zone()) ?? Number.MAX_SAFE_INTEGER;
        const wakes = { projectPath: source.project, manager: source.resourceManager, key: source.key };
        const outcome = await store.sources.fire({ source: name, due, nextAt: at, missed, wakes });
        log.info({ source: name, outcome, missed }, "a schedule came");
        if (outcome === "woken") woken();
      }
      next = Math.min(next ?? at, at);
    }
    if (next !== null && !this.#stopped) this.#timer = clock.timer(next, () => this.#pump.wake());
  }
}
