/**
 * One adapter child per configured channel: starts it, registers it, restarts it with backoff, and keeps its status.
 */
import { randomUUID } from "node:crypto";
import type { Config } from "../../contracts/config.ts";
import { HoldpointError, toErrorRecord, type ErrorRecord } from "../../contracts/errors.ts";
import { OPERATOR_COMMANDS } from "../../contracts/decision/operator-codes.ts";
import type { Language } from "../../contracts/language.ts";
import { PROCESS, WIRE } from "../../contracts/limits.ts";
import type { ChannelStatus } from "../../contracts/protocol/operations.ts";
import { fromAdapterSchema, type FromAdapter, type ToAdapter } from "../../contracts/protocol/channel.ts";
import { readerOf } from "../../contracts/reader.ts";
import type { CrashLog } from "../crash-log.ts";
import { untilWritten } from "../until-written.ts";
import type { Child, ChildExit, Ports, Timer } from "../ports.ts";
import { ChannelSession, type ChannelSessionDeps } from "./channel-session.ts";
import type { DeafWatch } from "./deaf-watch.ts";

/** What a channel needs to be started, independent of its kind. */
export interface ChannelSpec {
  readonly channelId: string;
  readonly kind: string;
  readonly profile: string;
  readonly settings: Readonly<Record<string, unknown>>;
  readonly tokenFile: string | null;
  readonly places: readonly string[];
  /** Language of those places that have one. */
  readonly languages?: Readonly<Record<string, Language>>;
}

/** The channels that a configuration asks for; `settings` beyond what it says. */
export function channelSpecs(config: Config, settings: Readonly<Record<string, unknown>> = {}): ChannelSpec[] {
  return Object.entries(config.telegramProfiles).map(([profile, entry]) => ({
    channelId: `telegram:${profile}`,
    kind: "telegram",
    profile,
    settings: { apiRoot: entry.apiRoot, ...settings },
    tokenFile: entry.tokenFile,
    places: entry.allowedChatIds,
    languages: languagesOf(config, `telegram:${profile}`, entry.allowedChatIds),
  }));
}

function languagesOf(config: Config, channelId: string, places: readonly string[]): Record<string, Language> {
  const known = places.flatMap((place) => {
    const { language } = readerOf(config, { channelId, place });
    return language === undefined ? [] : [[place, language] as const];
  });
  return Object.fromEntries(known);
}

/** Between two looks at a channel that somebody waits for; real time. */
const READY_LOOK_MS = 10;

interface Entry {
  readonly spec: ChannelSpec;
  state: ChannelStatus["state"];
  session: ChannelSession | undefined;
  child: Child<FromAdapter, ToAdapter> | undefined;
  restarts: number;
  failuresInRow: number;
  lastPollAt: number | null;
  error: ErrorRecord | null;
  timer: Timer | undefined;
  running: Promise<void>;
}

export interface SupervisorDeps extends Omit<ChannelSessionDeps, "onPolled"> {
  readonly ports: Ports;
  readonly serverEpoch: number;
  readonly crashes: CrashLog;
  readonly hearing: DeafWatch;
}

export class ChannelSupervisor {
  readonly #deps: SupervisorDeps;
  readonly #entries = new Map<string, Entry>();
  #stopping = false;
  #applying: Promise<void> = Promise.resolve();

  constructor(deps: SupervisorDeps) {
    this.#deps = deps;
  }

  /** Starts every channel that is not running yet and stops those no longer asked for. */
  apply(specs: readonly ChannelSpec[]): Promise<void> {
    // One at a time: two reloads must never start two adapters of one bot.
    this.#applying = this.#applying.then(() => this.#apply(specs));
    return this.#applying;
  }

  async #apply(specs: readonly ChannelSpec[]): Promise<void> {
    if (this.#stopping) return;
    const wanted = new Map(specs.map((spec) => [spec.channelId, spec]));
    const gone = [...this.#entries.values()].filter(
      (entry) => JSON.stringify(wanted.get(entry.spec.channelId)) !== JSON.stringify(entry.spec),
    );
    await Promise.all(gone.map((entry) => this.#stopEntry(entry)));
    for (const entry of gone) {
      this.#entries.delete(entry.spec.channelId);
      this.#deps.hearing.forget(entry.spec.channelId);
    }
    for (const spec of specs) {
      if (this.#entries.has(spec.channelId)) continue;
      const entry: Entry = {
        spec,
        state: "starting",
        session: undefined,
        child: undefined,
        restarts: 0,
        failuresInRow: 0,
        lastPollAt: null,
        error: null,
        timer: undefined,
        running: Promise.resolve(),
      };
      this.#entries.set(spec.channelId, entry);
      this.#launch(entry);
    }
  }

  wake(): void {
    for (const entry of this.#entries.values()) entry.session?.pump();
  }

  get count(): number {
    return this.#entries.size;
  }

  /** Resolves when a channel is ready. Rejects with what keeps it from that, or when it takes too long. */
  async whenReady(channelId: string): Promise<void> {
    const until = performance.now() + PROCESS.readyMs;
    for (;;) {
      const entry = this.#entries.get(channelId);
      if (entry?.state === "ready") return;
      if (entry === undefined || this.#stopping || performance.now() > until) {
        const why = entry?.error?.message ?? entry?.session?.error?.message ?? "it did not come up in time";
        throw new HoldpointError("channelUnreachable", `Channel ${channelId} is not ready: ${why}.`);
      }
      await new Promise((resolve) => setTimeout(resolve, READY_LOOK_MS));
    }
  }

  status(): ChannelStatus[] {
    return [...this.#entries.values()].map(({ spec, state, session, child, restarts, lastPollAt, error }) => ({
      channel: spec.channelId,
      state,
      pid: child?.pid ?? null,
      account: session?.account ?? null,
      lastPollAt: session?.lastPollAt ?? lastPollAt,
      pendingUpdates: session?.pendingUpdates ?? null,
      ...this.#deps.store.read.channels.stats(spec.channelId),
      deafSince: this.#deps.store.read.channels.deafness(spec.channelId)?.since ?? null,
      restarts,
      error: session?.error ?? error,
    }));
  }

  /** Gives out no new attempts, waits for those dispatching (bounded), then ends the children. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#deps.hearing.stop();
    await this.#applying;
    await Promise.all([...this.#entries.values()].map((entry) => this.#stopEntry(entry)));
  }

  async #stopEntry(entry: Entry): Promise<void> {
    entry.timer?.cancel();
    if (entry.session) {
      const guard = new Promise<void>((resolve) => setTimeout(resolve, PROCESS.stopGraceMs).unref());
      await Promise.race([entry.session.quiesce(), guard]);
    }
    entry.state = "stopped";
    if (entry.child) await leave(entry.child);
    await entry.running;
  }

  #launch(entry: Entry): void {
    entry.running = this.#run(entry)
      .catch((error: unknown) => {
        entry.error = toErrorRecord(error, "childStart");
        this.#deps.log.error({ channel: entry.spec.channelId, error: entry.error }, "channel could not be started");
      })
      .finally(() => this.#relaunch(entry));
  }

  #relaunch(entry: Entry): void {
    if (this.#stopping || entry.state === "stopped") return;
    entry.state = "down";
    entry.restarts += 1;
    entry.failuresInRow += 1;
    const delay = Math.min(PROCESS.restartMaxMs, PROCESS.restartMinMs * 2 ** Math.min(entry.failuresInRow - 1, 10));
    const { clock } = this.#deps.ports;
    entry.timer = clock.timer(clock.now() + delay, () => {
      if (!this.#stopping && entry.state === "down") this.#launch(entry);
    });
  }

  async #run(entry: Entry): Promise<void> {
    const { ports, store, serverEpoch, log, crashes } = this.#deps;
    const { spec } = entry;
    entry.state = "starting";
    const adapterEpoch = `a-${randomUUID()}`;
    const { channelEpoch, cursor } = await store.channels.open({
      channelId: spec.channelId,
      kind: spec.kind,
      profile: spec.profile,
      adapterEpoch,
    });
    if (isStopped(entry)) return;
    const child = await ports.launcher.launch<FromAdapter, ToAdapter>({
      kind: "adapter",
      name: spec.channelId,
      schema: fromAdapterSchema,
    });
    entry.child = child;
    // Stopped while it was being started: whoever stopped could not see it yet.
    if (this.#stopping || isStopped(entry)) void child.stop(PROCESS.killGraceMs);
    await store.children.register({
      childId: child.childId,
      kind: "adapter",
      name: spec.channelId,
      pid: child.pid,
      startIdentity: child.startIdentity,
      epoch: serverEpoch,
    });
    const onPolled: ChannelSessionDeps["onPolled"] = (channelId, error) => {
      // What a channel says on its way out is no sign of trouble.
      if (!this.#stopping && !isStopped(entry)) this.#deps.hearing.polled(channelId, error);
    };
    const session = new ChannelSession({ ...this.#deps, onPolled }, spec.channelId, adapterEpoch, child);
    session.lastPollAt = entry.lastPollAt;
    session.onReady = () => {
      entry.state = "ready";
      entry.failuresInRow = 0;
      entry.error = null;
      log.info({ channel: spec.channelId, account: session.account }, "channel is ready");
    };
    entry.session = session;
    child.port.send({
      type: "launch",
      schema: "holdpoint.channel-launch.v1",
      protocol: 1,
      channel: spec.channelId,
      adapterEpoch,
      settings: { ...spec.settings },
      tokenFile: spec.tokenFile,
      cursor,
      channelEpoch,
      commands: [...OPERATOR_COMMANDS],
      places: [...spec.places],
      languages: { ...spec.languages },
    });
    const exit = await child.exited;
    session.close();
    entry.lastPollAt = session.lastPollAt;
    entry.session = undefined;
    entry.child = undefined;
    await store.idle();
    await child.stop(PROCESS.killGraceMs);
    const { channelId } = spec;
    await untilWritten(this.#deps, "the end of an adapter's attempts", () =>
      store.effects.adapterGone({ channelId, adapterEpoch }),
    );
    this.#deps.wake.doubts();
    this.#deps.wake.views();
    const outcome = exit.signal ?? `code ${exit.code}`;
    await untilWritten(this.#deps, "the end of an adapter", () =>
      store.children.ended({ childId: child.childId, outcome, diagnostic: exit.diagnostic }),
    );
    if (!this.#stopping && !isStopped(entry)) {
      this.#deps.hearing.ended(spec.channelId);
      entry.error = session.error ?? exitError(spec.channelId, exit);
      crashes.add("adapter", spec.channelId, exit, session.endedFor?.message);
      log.warn({ channel: spec.channelId, code: exit.code, signal: exit.signal, error: entry.error }, "adapter ended");
    }
  }
}

/** Lets the child say goodbye, which takes no longer than the end of its attempts; a signal ends one that does not leave. */
async function leave(child: Child<FromAdapter, ToAdapter>): Promise<void> {
  child.port.send({ type: "stop" });
  let timer: NodeJS.Timeout | undefined;
  const guard = new Promise<void>((resolve) => (timer = setTimeout(resolve, WIRE.childExitMs)));
  await Promise.race([child.exited, guard]);
  clearTimeout(timer);
  await child.stop(PROCESS.killGraceMs);
}

/** Read anew: another part may have stopped the entry while this one waited. */
function isStopped(entry: Entry): boolean {
  return entry.state === "stopped";
}

function exitError(channelId: string, exit: ChildExit): ErrorRecord {
  const how = exit.signal ? `was ended by ${exit.signal}` : `exited with code ${exit.code}`;
  const tail = exit.diagnostic.trim().split("\n").slice(-3).join(" | ");
  return new HoldpointError("childStart", `The adapter of ${channelId} ${how}${tail ? `: ${tail}` : ""}.`).toRecord();
}
