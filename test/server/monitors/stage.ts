/** Monitors over a real store and a controlled clock, with targets that the test turns on and off. */
import { configSchema, type Config } from "../../../src/contracts/config.ts";
import { LEASE } from "../../../src/contracts/limits.ts";
import type { Finding, ProbeResult } from "../../../src/contracts/monitor/finding.ts";
import { ControlledClock } from "../../../src/server/system/controlled-clock.ts";
import { Monitors } from "../../../src/server/monitors/monitors.ts";
import type { Prober, ProbeOrder } from "../../../src/server/monitors/prober.ts";
import type { Log } from "../../../src/server/ports.ts";
import type { MonitorRow, Store } from "../../../src/state/store.ts";
import { afterTest } from "../../harness/cleanups.ts";
import { openTemp } from "../../state/fixture.ts";

export const START = Date.parse("2026-03-01T12:00:00Z");
export const MINUTE = 60_000;
export const HOUR = 3_600_000;

const UP: ProbeResult = { ok: true, finding: { code: "ok" }, durationMs: 5 };
const DOWN: ProbeResult = { ok: false, finding: { code: "refused" }, durationMs: 1 };

/** What the targets do, by the name of the monitor; up unless said otherwise. */
class Targets implements Prober {
  readonly asked: { readonly name: string; readonly at: number }[] = [];
  readonly down = new Set<string>();
  readonly answers = new Map<string, () => Promise<ProbeResult>>();
  now: () => number = () => 0;

  async probe({ name }: ProbeOrder): Promise<ProbeResult> {
    this.asked.push({ name, at: this.now() });
    const answer = this.answers.get(name);
    if (answer !== undefined) return answer();
    return this.down.has(name) ? DOWN : UP;
  }

  stop(): Promise<void> {
    return Promise.resolve();
  }

  times(name: string): number {
    return this.asked.filter((one) => one.name === name).length;
  }
}

export interface Stage {
  readonly clock: ControlledClock;
  readonly store: Store;
  readonly targets: Targets;
  monitors: Monitors;
  config: Config;
  /** Errors and warnings of the log. */
  readonly troubles: string[];
  /** The configuration has these monitors from now on. */
  configure(monitors: Record<string, unknown>, more?: Partial<Config>): Promise<void>;
  /** Another server over the same database, which was silent for `silentMs`. */
  restart(silentMs?: number): Promise<void>;
  onStood: () => void;
  row(name: string): MonitorRow;
  /** Types of the monitor's events so far, without that it was added. */
  told(name: string): string[];
  finding(name: string): Finding["code"] | undefined;
}

export const web = (more: object = {}): object => ({
  everySeconds: 60,
  audience: "ops",
  probe: { type: "http", url: "http://127.0.0.1:1/" },
  ...more,
});

export async function makeStage(monitors: Record<string, unknown> = {}, more: Partial<Config> = {}): Promise<Stage> {
  const clock = new ControlledClock(START);
  const { store } = openTemp({ clock: clock as never });
  const targets = new Targets();
  targets.now = () => clock.now();
  const troubles: string[] = [];
  const note = (fields: object, text: string): void => void troubles.push(`${text} ${JSON.stringify(fields)}`);
  const log: Log = { debug: () => undefined, info: () => undefined, warn: note, error: note };
  const none = (): void => undefined;
  const wake = { runs: none, channels: none, doubts: none, deadlines: none, views: none };
  const make = (): Monitors =>
    new Monitors({
      store,
      clock,
      log,
      wake: wake as never,
      access: () => ({ ...stage.config, profiles: {}, outage: null }),
      config: () => stage.config,
      prober: targets,
      stood: () => stage.onStood(),
    });
  const configOf = (given: Record<string, unknown>, rest: Partial<Config>): Config =>
    configSchema.parse({
      schema: "holdpoint.config.v1",
      audiences: { ops: { destinations: ["telegram:main/1"] } },
      telegramProfiles: { main: { tokenFile: "/none", allowedUserIds: ["7"], allowedChatIds: ["1"] } },
      timeZone: "Europe/Berlin",
      monitors: JSON.parse(JSON.stringify(given)) as Record<string, unknown>,
      ...rest,
    });
  const stage: Stage = {
    clock,
    store,
    targets,
    troubles,
    monitors: undefined as unknown as Monitors,
    config: configOf(monitors, more),
    async configure(next, rest = {}) {
      stage.config = configOf(next, rest);
      await stage.monitors.apply();
      await clock.advance(0);
    },
    async restart(silentMs = 0) {
      await stage.monitors.stop();
      await clock.jump(silentMs);
      stage.monitors = make();
      stage.monitors.deaf(clock.now() - silentMs);
      await stage.monitors.apply();
      await clock.advance(0);
    },
    onStood: none,
    row: (name) => store.read.monitors.get(name),
    told: (name) =>
      store.read.monitors
        .events(name)
        .map(({ type }) => type)
        .filter((type) => type !== "monitor.added")
        .reverse(),
    finding: (name) => store.read.monitors.get(name).lastFinding?.code,
  };
  stage.monitors = make();
  clock.settle = async () => {
    await stage.monitors.idle();
    await store.idle();
  };
  const beat = (): void => {
    stage.monitors.tick();
    clock.timer(clock.now() + LEASE.renewMs, beat);
  };
  beat();
  await stage.monitors.apply();
  await clock.advance(0);
  afterTest(() => void stage.monitors.stop());
  return stage;
}
