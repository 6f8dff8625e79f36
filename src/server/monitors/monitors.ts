/**
 * The built-in manager `monitor`: looks at what is due, takes the reports of jobs, and hands every result to the store, where it counts
 * and people are told. What is due is read from the database each time; the timer only wakes. A monitor that cannot be handled is
 * told in the log and tried again later, and disturbs no other one.
 */
import type { Config } from "../../contracts/config.ts";
import { HoldpointError, messageOf } from "../../contracts/errors.ts";
import { LEASE, PROBES } from "../../contracts/limits.ts";
import { definedMonitors, type DefinedMonitors } from "../../contracts/monitor/defined.ts";
import type { Finding, ProbeResult } from "../../contracts/monitor/finding.ts";
import { inWindow } from "../../contracts/schedule.ts";
import type { Checked, Lane, MonitorRow, Store } from "../../state/store.ts";
import type { AccessSource, Wake } from "../context.ts";
import type { Clock, Log, Timer } from "../ports.ts";
import { Pump } from "../pump.ts";
import type { Prober } from "./prober.ts";
import { Repairs } from "./repairs.ts";
import { expected, firstAt, mayHaveReported, missedChecks, nextCheck, overdueAgain } from "./rhythm.ts";

export interface MonitorsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly access: AccessSource;
  readonly config: () => Config;
  readonly prober: Prober;
  /** How a monitor stands may have changed: that of a resource shows it. */
  readonly stood: () => void;
}

/** A probe that could not be made is made again after this time. */
const AGAIN_MS = 15_000;
/** After a result could not be stored. */
const UNWRITTEN_MS = 1_000;
const SLEPT_MS = LEASE.renewMs + 5_000;
const ROOM: Readonly<Record<Exclude<Lane, "heartbeat">, number>> = {
  network: PROBES.network,
  command: PROBES.commands,
};

export class Monitors {
  readonly #deps: MonitorsDeps;
  readonly #pump: Pump;
  readonly #repairs: Repairs;
  /** Being probed or stored, with its lane. */
  readonly #busy = new Map<number, Lane>();
  #results: Checked[] = [];
  #flushing: Promise<void> | null = null;
  #work = new Set<Promise<unknown>>();
  #timer: Timer | undefined;
  #lastTick: number;
  #bad: DefinedMonitors["bad"] = [];
  #stopped = false;

  constructor(deps: MonitorsDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#pump = new Pump({ work: () => this.#run(), clock, log, what: "looking at monitors" });
    this.#repairs = new Repairs(deps);
    this.#lastTick = clock.now();
  }

  /** Monitors of the configuration that are wrong, with the reasons. */
  get invalid(): DefinedMonitors["bad"] {
    return this.#bad;
  }

  /** Takes the monitors of the configuration as it is now. */
  async apply(): Promise<void> {
    const { access, clock, config, log, store } = this.#deps;
    const { bad, good } = definedMonitors(config());
    this.#bad = bad;
    for (const { name, problems } of bad) log.error({ monitor: name, problems }, "a monitor is invalid");
    const { timeZone } = config();
    const now = clock.now();
    const monitors = good.map(({ name, spec }) => ({ name, spec, firstAt: firstAt(spec, now, timeZone) }));
    const done = await store.monitors.sync({ monitors, keep: bad.map(({ name }) => name), access: access() });
    if (done.added + done.changed + done.removed > 0) {
      log.info({ ...done }, "monitors are as the configuration says");
      this.#deps.wake.channels();
    }
    this.wake();
  }

  /** Looks for what is due and arms the next look; safe to call at any time. */
  wake(): void {
    this.#pump.wake();
  }

  /** Called with each beat of the server; notices that it did not run for a while. */
  tick(): void {
    const now = this.#deps.clock.now();
    const last = this.#lastTick;
    this.#lastTick = now;
    if (now - last > SLEPT_MS) this.deaf(last);
  }

  /** Nobody could report since `from`: what was expected in that time may have come. */
  deaf(from: number): void {
    const { clock, config, log, store } = this.#deps;
    const now = clock.now();
    const zone = config().timeZone;
    const postponed: Promise<unknown>[] = [];
    for (
      let after = "", page = store.read.monitors.page(after);
      page.length > 0;
      page = store.read.monitors.page(after)
    ) {
      for (const { monitorNo, name, nextAt, spec } of page) {
        after = name;
        if (spec.check.type !== "heartbeat" || !mayHaveReported(spec, nextAt, from, now)) continue;
        const next = expected(spec, now, zone);
        postponed.push(store.monitors.postpone({ monitorNo, due: nextAt, nextAt: Math.max(nextAt, next), missed: 1 }));
      }
    }
    if (postponed.length === 0) return;
    log.info({ from, to: now, monitors: postponed.length }, "reports may have been lost; their jobs get a turn more");
    this.#follow(Promise.all(postponed).then(() => this.wake()));
  }

  /** Resolves when no probe is under way and every result is on disk. For clocks that tests move. */
  async idle(): Promise<void> {
    await this.#pump.idle();
    while (this.#work.size > 0 || this.#flushing !== null) {
      await Promise.allSettled([...this.#work, this.#flushing]);
      await this.#pump.idle();
    }
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#pump.stop();
    await this.#deps.prober.stop();
    await Promise.allSettled([...this.#work, this.#flushing]);
  }

  /** Probes one now; its result counts. Throws `monitorUnknown`, and `monitorState` for one that cannot be probed. */
  async check(name: string): Promise<ProbeResult> {
    const { clock, config, store } = this.#deps;
    const monitor = store.read.monitors.get(name);
    if (monitor.spec.check.type === "heartbeat")
      throw new HoldpointError(
        "monitorState",
        `${name} is a heartbeat: its job reports by itself, nothing can be probed.`,
      );
    const result = await this.#probe(monitor);
    const due = clock.now();
    const nextAt = nextCheck(monitor.spec, name, { due, now: due, first: false }, config().timeZone);
    await this.#store([{ ...this.#checked(monitor, result, nextAt), due: null }]);
    return result;
  }

  /** A job reported. Throws `monitorUnknown` and `monitorState`. */
  async beat(name: string, ok: boolean, detail: string | null): Promise<void> {
    const { access, clock, config, store } = this.#deps;
    const { monitorNo, spec, specDigest } = store.read.monitors.get(name);
    if (spec.check.type !== "heartbeat") throw new HoldpointError("monitorState", `${name} is no heartbeat.`);
    const now = clock.now();
    const zone = config().timeZone;
    const finding: Finding = ok ? { code: "ok" } : { code: "reportedFailure", ...(detail === null ? {} : { detail }) };
    const outcome = await store.monitors.beat({
      monitorNo,
      specDigest,
      ok,
      finding,
      nextAt: expected(spec, now, zone),
      quiet: inWindow(spec.maintenance, now, zone),
      access: access(),
    });
    this.#told(outcome);
    this.wake();
  }

  async #run(): Promise<void> {
    this.tick();
    const { clock, store } = this.#deps;
    this.#timer?.cancel();
    this.#timer = undefined;
    // Every run that continues wakes this: one look tells whether any lane has something to do.
    const soonest = store.read.monitors.soonest();
    if (soonest !== null && soonest <= clock.now()) {
      for (const monitor of store.read.monitors.due("heartbeat", clock.now())) this.#late(monitor);
      for (const lane of ["network", "command"] as const) this.#begin(lane);
    }
    try {
      await this.#repairs.run();
    } finally {
      // Whatever became of repairs, the next look comes; the pump tells of an error and tries again.
      const next = this.#stopped || soonest === null ? null : store.read.monitors.nextDue(clock.now());
      if (next !== null) this.#timer = clock.timer(next, () => this.wake());
    }
  }

  /** Starts what is due, as far as there is room. */
  #begin(lane: Exclude<Lane, "heartbeat">): void {
    let room = ROOM[lane] - [...this.#busy.values()].filter((of) => of === lane).length;
    if (room <= 0) return;
    const { clock, store } = this.#deps;
    for (const monitor of store.read.monitors.due(lane, clock.now())) {
      if (room === 0) return;
      if (this.#busy.has(monitor.monitorNo)) continue;
      room -= 1;
      this.#busy.set(monitor.monitorNo, lane);
      this.#follow(this.#look(monitor));
    }
  }

  async #look(monitor: MonitorRow): Promise<void> {
    const { clock, config } = this.#deps;
    const result = await this.#probe(monitor);
    const now = clock.now();
    const { name, nextAt: due, spec, state } = monitor;
    const again = result.finding.code === "notProbed";
    const made = { due, now, first: state.checks === 0 };
    this.#take(this.#checked(monitor, result, again ? now + AGAIN_MS : nextCheck(spec, name, made, config().timeZone)));
  }

  /** A job did not report in time, unless nobody was there to hear it. */
  #late(monitor: MonitorRow): void {
    const { clock, config } = this.#deps;
    if (this.#busy.has(monitor.monitorNo)) return;
    const now = clock.now();
    this.#busy.set(monitor.monitorNo, "heartbeat");
    const result: ProbeResult = { ok: false, finding: { code: "late", lastAt: monitor.beatAt }, durationMs: 0 };
    this.#take(this.#checked(monitor, result, overdueAgain(monitor.spec, now, config().timeZone)));
  }

  #probe({ name, spec }: MonitorRow): Promise<ProbeResult> {
    const { clock, prober } = this.#deps;
    return prober.probe({ name, check: spec.check, timeoutMs: spec.timeoutSeconds * 1_000, now: clock.now() });
  }

  #checked({ monitorNo, nextAt: due, spec, specDigest }: MonitorRow, result: ProbeResult, nextAt: number): Checked {
    const { clock, config } = this.#deps;
    const now = clock.now();
    const zone = config().timeZone;
    const missed = spec.check.type === "heartbeat" ? 0 : missedChecks(spec, due, now, zone);
    return { monitorNo, specDigest, due, result, nextAt, quiet: inWindow(spec.maintenance, now, zone), missed };
  }

  /** Results of one turn are stored together. */
  #take(checked: Checked): void {
    this.#results.push(checked);
    this.#flushing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#flush());
  }

  async #flush(): Promise<void> {
    const { clock, log } = this.#deps;
    while (this.#results.length > 0) {
      const results = this.#results.splice(0, PROBES.batch);
      try {
        await this.#store(results);
        for (const { monitorNo } of results) this.#busy.delete(monitorNo);
      } catch (error) {
        log.error({ error: messageOf(error), results: results.length }, "results of monitors could not be stored");
        // Still due: looked at again, after a moment.
        clock.timer(clock.now() + UNWRITTEN_MS, () => {
          for (const { monitorNo } of results) this.#busy.delete(monitorNo);
          this.wake();
        });
      }
    }
    this.#flushing = null;
    this.wake();
  }

  /** One that cannot be stored must not keep the others from it. */
  async #store(results: readonly Checked[]): Promise<void> {
    const { access, log, store } = this.#deps;
    try {
      this.#told(await store.monitors.checked({ results, access: access() }));
    } catch (error) {
      if (results.length === 1) throw error;
      log.error({ error: messageOf(error), results: results.length }, "results of monitors are stored one by one");
      const outcomes = await Promise.allSettled(results.map((one) => this.#store([one])));
      const failed = outcomes.find((outcome) => outcome.status === "rejected");
      if (failed !== undefined) throw failed.reason;
    }
  }

  #told({ changes, told }: Awaited<ReturnType<Store["monitors"]["checked"]>>): void {
    const { log, stood, wake } = this.#deps;
    for (const { kind, monitor } of changes) log.info({ monitor, kind }, "a monitor changed");
    if (told) wake.channels();
    stood();
  }

  #follow(work: Promise<unknown>): void {
    const followed = work
      .catch((error: unknown) => this.#deps.log.error({ error: messageOf(error) }, "a monitor could not be handled"))
      .finally(() => this.#work.delete(followed));
    this.#work.add(followed);
  }
}
