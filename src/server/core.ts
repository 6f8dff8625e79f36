/**
 * The server core: puts store, scheduler, channels, deadlines and gateway together over the ports. One instance owns one home.
 */
import type { Config } from "../contracts/config.ts";
import { toErrorRecord, type ErrorRecord } from "../contracts/errors.ts";
import { LEASE, RETENTION, SOURCE } from "../contracts/limits.ts";
import type { Store } from "../state/store.ts";
import { AlertTimes } from "./alerts.ts";
import { ChannelSupervisor, channelSpecs, type ChannelSpec } from "./channels/channel-supervisor.ts";
import { DeafWatch } from "./channels/deaf-watch.ts";
import type { Access, Wake } from "./context.ts";
import { CrashLog } from "./crash-log.ts";
import { DecisionDeadlines } from "./deadlines.ts";
import { Doubts } from "./doubts.ts";
import { changeSettings } from "./gateway/change-settings.ts";
import { serveConnection } from "./gateway/connection.ts";
import { makeHandlers } from "./gateway/handlers.ts";
import { PI } from "../contracts/config.ts";
import { PiChannel } from "./pi/pi-channel.ts";
import { Hearing } from "./hearing.ts";
import { Sources } from "./sources/sources.ts";
import { AppliedMonitors } from "./monitors/applied.ts";
import { Monitors } from "./monitors/monitors.ts";
import { ChildProber, type Prober } from "./monitors/prober.ts";
import type { Ports, Timer } from "./ports.ts";
import { AgentNodes } from "./runs/agent-nodes.ts";
import { ApprovedSources } from "./runs/approved-sources.ts";
import { Judge } from "./runs/judge.ts";
import { ManagedRuns } from "./runs/managed-runs.ts";
import type { SettingsChange } from "./resources/pass-session.ts";
import { ResourceLane } from "./resources/resource-lane.ts";
import { Resources } from "./resources/resources.ts";
import { SourceResolver } from "./resources/resolver.ts";
import { RunScheduler } from "./runs/run-scheduler.ts";
import { Sleepers } from "./runs/sleepers.ts";
import { WaitingRuns } from "./runs/waiting-sources.ts";
import { onceATurn } from "./once-a-turn.ts";
import { METRICS_TYPE, metricsText } from "./views/metrics.ts";
import { serverStatus } from "./views/server-view.ts";
import { RunWatchers } from "./views/run-watchers.ts";

export interface CoreOptions {
  readonly store: Store;
  readonly ports: Ports;
  readonly home: string;
  readonly cacheDir: string;
  /** Emptied at the start; approved source files are laid out here. */
  readonly sourcesDir: string;
  readonly product: string;
  readonly installPath: string;
  /** Reads the configuration anew; throws when it is invalid. */
  readonly loadConfig: () => Config;
  readonly config: Config;
  /** Further channels (test adapters). */
  readonly extraChannels?: readonly ChannelSpec[];
  /** Laid over the settings of each configured channel (tests). */
  readonly channelSettings?: Readonly<Record<string, unknown>>;
  /** Left out: a child process. */
  readonly prober?: Prober;
  readonly serverId: string;
  readonly pid: number;
  readonly startIdentity: string;
  /** Called when a client asks the server to stop. */
  readonly onStopRequest: () => void;
}

export class ServerCore {
  readonly epoch: number;
  readonly startedAt: number;
  readonly options: CoreOptions;
  readonly crashes: CrashLog;
  readonly scheduler: RunScheduler;
  readonly channels: ChannelSupervisor;
  readonly watchers: RunWatchers;
  readonly managed: ManagedRuns;
  readonly monitors: Monitors;
  readonly sources: Sources;
  readonly applied: AppliedMonitors;
  readonly resources: Resources;
  readonly resourceLane: ResourceLane;
  readonly #resolver: SourceResolver;
  readonly judge: Judge;
  readonly waiting: WaitingRuns;
  readonly pi: PiChannel;
  readonly sleepers: Sleepers;
  configError: ErrorRecord | null = null;
  #config: Config;
  readonly #hearing: Hearing;
  readonly #deadlines: DecisionDeadlines;
  readonly #doubts: Doubts;
  readonly #alerts: AlertTimes;
  readonly #connections = new Set<() => void>();
  #heartbeat: Timer | undefined;
  #sweep: Timer | undefined;
  #stopped = false;

  private constructor(options: CoreOptions, epoch: number) {
    const { store, ports } = options;
    const { clock, log } = ports;
    this.options = options;
    this.epoch = epoch;
    this.startedAt = clock.now();
    this.#config = options.config;
    this.crashes = new CrashLog(clock);
    // Nobody waits for these to look at once.
    const later = (work: () => void): (() => void) => onceATurn(work, () => this.#stopped);
    const doubts = later(() => this.#doubts.wake());
    const alerts = later(() => this.#alerts.wake());
    const requests = later(() => {
      this.managed.wake();
      // Somebody may have asked for a repair.
      this.monitors.wake();
    });
    const conversations = later(() => this.pi.conversations.wake());
    const wake: Wake = {
      runs: () => {
        this.scheduler.wake();
        requests();
      },
      channels: () => {
        this.channels.wake();
        doubts();
        // Whatever queues a message may have changed an alert.
        alerts();
      },
      doubts,
      deadlines: () => this.#deadlines.wake(),
      timers: () => this.sleepers.wake(),
      views: () => {
        this.watchers.wake();
        conversations();
      },
    };
    const access = (): Access => this.access();
    this.#hearing = new Hearing(
      clock,
      log,
      // Sessions of Pi are not heard of in time: nobody knows which ones will come back.
      () =>
        this.#specs()
          .map((spec) => spec.channelId)
          .filter((channel) => channel !== PI),
      () => this.#deadlines.wake(),
    );
    this.#deadlines = new DecisionDeadlines({ store, clock, log, wake, access, hearing: this.#hearing });
    this.#doubts = new Doubts({ store, clock, log, wake, access });
    this.#alerts = new AlertTimes({ store, clock, log, wake, access });
    const { cacheDir } = options;
    const approved = new ApprovedSources(options.sourcesDir, (sha256) => store.read.runs.source(sha256));
    this.judge = new Judge({ store, ports, log, serverEpoch: epoch, cacheDir, approved });
    this.waiting = new WaitingRuns({ store, clock, log, wake, judge: this.judge });
    this.scheduler = new RunScheduler({
      store,
      clock,
      log,
      wake,
      access,
      ports,
      serverEpoch: epoch,
      crashes: this.crashes,
      cacheDir,
      sourcesDir: options.sourcesDir,
      approved,
      agents: new AgentNodes(() => this.#config.pi, options.home),
      maxRuns: options.config.server.maxRuns,
    });
    const stopRunner = (runnerEpoch: string): Promise<void> => this.scheduler.stopRunner(runnerEpoch, "operator");
    this.pi = new PiChannel({
      store,
      clock,
      log,
      wake,
      access,
      stopRunner,
      home: options.home,
      product: options.product,
      installPath: options.installPath,
      config: () => this.#config,
      apply: () => this.channels.apply(this.#specs()),
      ready: () => this.channels.whenReady(PI),
    });
    this.channels = new ChannelSupervisor({
      store,
      clock,
      log,
      wake,
      access,
      ports,
      serverEpoch: epoch,
      crashes: this.crashes,
      onHeard: (channel, drained) => this.#hearing.heard(channel, drained),
      facts: () => ({ startedAt: this.startedAt, channels: this.channels.status() }),
      stopRunner,
      conversations: this.pi.conversations,
      hearing: new DeafWatch({ store, clock, log, wake, access }),
    });
    this.watchers = new RunWatchers(store, clock, log);
    this.managed = new ManagedRuns({
      store,
      log,
      wake,
      stopRunner: (epoch) => this.scheduler.stopRunner(epoch, "cancel"),
    });
    this.#resolver = new SourceResolver({ store, ports, log, serverEpoch: epoch, cacheDir });
    this.resourceLane = new ResourceLane({
      store,
      ports,
      log,
      serverEpoch: epoch,
      crashes: this.crashes,
      cacheDir,
      sourcesDir: options.sourcesDir,
      approved,
      ensureRun: (request) => this.managed.ensure(request),
      cancelRun: (run, reason) => this.managed.cancel(run, reason),
      changeSettings: (change) => this.#changeSettings(change),
    });
    const prober = options.prober ?? new ChildProber({ store, ports, log, serverEpoch: epoch, crashes: this.crashes });
    this.monitors = new Monitors({
      store,
      clock,
      log,
      wake,
      access,
      config: () => this.#config,
      prober,
      stood: () => this.applied.manager.wake(),
    });
    this.sources = new Sources({
      store,
      ports,
      config: () => this.#config,
      beat: (...report) => this.monitors.beat(...report),
      woken: () => this.resources.wake(),
    });
    this.resources = new Resources({
      store,
      resolve: (request) => this.#resolver.resolve(request),
      wakeRunners: () => this.resourceLane.wake(),
    });
    this.applied = new AppliedMonitors({
      store,
      clock,
      log,
      access,
      config: () => this.#config,
      serverEpoch: epoch,
      changed: () => {
        this.monitors.wake();
        this.channels.wake();
      },
    });
    this.resources.register(this.applied.manager);
    this.managed.onCompleted = () => this.resources.wake();
    this.sleepers = new Sleepers({ store, clock, log, wake });
  }

  /** Claims the epoch, recovers what an earlier server left, and begins to work. */
  static async start(options: CoreOptions): Promise<ServerCore> {
    const { store, ports, serverId, pid, startIdentity } = options;
    const install = `${options.product} at ${options.installPath}`;
    const { epoch, previous } = await store.server.claimEpoch({ serverId, pid, startIdentity, install });
    // No run with an open action is claimed, and no adapter of a profile started, before the old groups are proved gone.
    await endOrphans(store, ports);
    const recovered = await store.server.recover({ epoch });
    ports.log.info({ epoch, ...recovered }, "recovered");
    const core = new ServerCore(options, epoch);
    await ports.listener.listen((stream) => {
      const close = serveConnection(
        stream,
        { handlers: makeHandlers(core), log: ports.log, product: options.product, installPath: options.installPath },
        () => this.forget(core, close),
      );
      core.#connections.add(close);
    });
    await core.#begin(previous?.heardAt ?? null, previous !== null && previous.install !== install);
    return core;
  }

  private static forget(core: ServerCore, close: () => void): void {
    core.#connections.delete(close);
  }

  get config(): Config {
    return this.#config;
  }

  get clients(): number {
    return this.#connections.size;
  }

  wakeAlerts(): void {
    this.#alerts.wake();
  }

  wakeDeadlines(): void {
    this.#deadlines.wake();
  }

  access(): Access {
    const { people, audiences, telegramProfiles, timeZone, language } = this.#config;
    return { people, audiences, profiles: telegramProfiles, timeZone, language, outage: this.#hearing.outage };
  }

  /** Reads config.json again; a file that does not parse keeps the last good one and says so. */
  async reload(): Promise<ErrorRecord | null> {
    try {
      this.#config = this.options.loadConfig();
      this.configError = null;
    } catch (error) {
      this.configError = toErrorRecord(error, "configInvalid");
      this.options.ports.log.error({ error: this.configError }, "configuration kept: the file is invalid");
      return this.configError;
    }
    await this.channels.apply(this.#specs());
    this.#doubts.wake();
    await this.#revise();
    await this.monitors.apply();
    await this.sources.apply();
    await this.#serveMetrics();
    return null;
  }

  /** Who may answer has changed, or may have while no server ran: what waits is judged anew. */
  async #revise(): Promise<void> {
    if (!this.options.store.read.decisions.haveTraces()) return;
    for (let after: number | null = 0; after !== null;) {
      const { next, ...count } = await this.options.store.decisions.revise({ access: this.access(), after });
      this.options.ports.log.info(count, "decisions that wait were judged by the configuration");
      after = next;
    }
    this.channels.wake();
    this.#deadlines.wake();
    this.watchers.wake();
  }

  /** Resolves when nothing that was woken is still at work (the controlled clock waits for this). */
  async settled(): Promise<void> {
    await Promise.all([this.monitors.idle(), this.sources.idle(), this.applied.idle()]);
    for (let quiet = 0; quiet < 3; quiet += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      await this.options.store.idle();
    }
  }

  /** Whether anything would be missed if the server left now: a client, a channel, a run, or something unsettled. */
  get busy(): boolean {
    const { read } = this.options.store;
    const { completed: _c, failed: _f, timed_out: _t, cancelled: _x, ...open } = read.runs.counts();
    return (
      this.clients > 0 ||
      this.#served > 0 ||
      read.managed.counts().resources > 0 ||
      read.monitors.count() > 0 ||
      Object.keys(open).length > 0 ||
      read.effects.ambiguousCount() > 0
    );
  }

  /** Channels that somebody may be waiting on; that of Pi only while a session is connected. */
  get #served(): number {
    const sessions = this.pi.conversations.count;
    return this.#specs().filter(({ channelId }) => channelId !== PI).length + sessions;
  }

  /** No new work; attempts that are dispatching get their outcome; then everything ends in order. */
  async stop(): Promise<void> {
    if (this.#stopped) return;
    this.#stopped = true;
    const { ports, store } = this.options;
    this.#heartbeat?.cancel();
    this.#sweep?.cancel();
    this.#hearing.stop();
    this.#deadlines.stop();
    this.#doubts.stop();
    this.#alerts.stop();
    this.waiting.stop();
    this.managed.stop();
    this.pi.conversations.stop();
    await Promise.all([this.sources.stop(), this.applied.stop()]);
    await this.monitors.stop();
    await Promise.all([
      this.channels.stop(),
      this.scheduler.stop(),
      this.judge.stop(),
      this.sleepers.stop(),
      this.resourceLane.stop(),
      this.#resolver.stop(),
    ]);
    this.watchers.stop();
    for (const close of this.#connections) close();
    await ports.metrics?.close();
    await ports.listener.close();
    await store.server.release({ epoch: this.epoch });
    store.close();
    ports.log.info({ epoch: this.epoch }, "stopped");
  }

  /** A resource manager changes the settings of a run that it asked for. */
  async #changeSettings({ actorId, ...change }: SettingsChange): Promise<{ readonly changeNumber: number }> {
    const { runId: run, ...rest } = change;
    const actor = { type: "controller", id: actorId } as const;
    const { result } = await changeSettings(this, { ...rest, run, expectedRevision: null, receipt: null, actor });
    const version = this.options.store.read.settings.version(result.scopeId);
    if (version !== null) this.scheduler.settingsChanged(result.runId, version);
    this.watchers.wake();
    return { changeNumber: result.changeNumber };
  }

  #specs(): ChannelSpec[] {
    const { channelSettings = {}, extraChannels = [] } = this.options;
    return [...channelSpecs(this.#config, channelSettings), ...this.pi.specs(), ...extraChannels];
  }

  async #begin(silentSince: number | null, otherProduct: boolean): Promise<void> {
    const specs = this.#specs();
    if (silentSince !== null) this.#hearing.begin(silentSince);
    // Before the channels hand over what people tapped, as far as that is quick.
    void this.waiting.look().then(() => this.waiting.tryOut(otherProduct));
    await this.#revise();
    await this.channels.apply(specs);
    this.scheduler.start();
    this.managed.wake();
    this.pi.conversations.begin();
    this.sleepers.wake();
    this.resourceLane.start();
    this.resources.wake();
    this.#deadlines.wake();
    this.#doubts.wake();
    if (silentSince !== null) this.monitors.deaf(silentSince);
    await this.monitors.apply();
    await this.sources.apply();
    this.#alerts.wake();
    this.#beat();
    this.#sweepInbox();
    await this.#serveMetrics();
  }

  #serveMetrics(): Promise<void> {
    const { metrics } = this.options.ports;
    const port = this.#config.metrics?.port ?? null;
    return metrics?.serve(port, METRICS_TYPE, () => metricsText(serverStatus(this))) ?? Promise.resolve();
  }

  #beat(): void {
    const { clock, log } = this.options.ports;
    this.#heartbeat = clock.timer(clock.now() + LEASE.renewMs, () => {
      if (this.#stopped) return;
      this.#hearing.tick();
      this.monitors.tick();
      this.options.store.server
        .heartbeat({ epoch: this.epoch })
        .catch((error: unknown) => log.error({ error: String(error) }, "heartbeat failed"));
      this.#beat();
    });
  }

  /** Once a day: rows that only serve deduplication leave after their time. */
  #sweepInbox(): void {
    const { clock, log } = this.options.ports;
    const day = 86_400_000;
    const at = clock.now() + day;
    const again = (): void => {
      if (this.#stopped) return;
      if (clock.now() < at) {
        this.#sweep = clock.timer(at, again);
        return;
      }
      this.options.store.retention
        .sweep({ before: clock.now() - RETENTION.inboxMs })
        .catch((error: unknown) => log.error({ error: String(error) }, "retention sweep failed"));
      this.options.store.sources
        .sweep({ before: clock.now() - SOURCE.rememberMs })
        .catch((error: unknown) => log.error({ error: String(error) }, "sweep of webhooks failed"));
      this.#sweepInbox();
    };
    this.#sweep = clock.timer(at, again);
  }
}

/** Ends what an earlier server and its runners left. Groups after runners: a runner that goes may have ended its own. */
async function endOrphans(store: Store, ports: Ports): Promise<void> {
  await ports.processes.endGroups(store.read.children.alive());
  const groups = store.read.processes.alive();
  await ports.processes.endGroups(groups);
  // Agents and commands start groups of their own, which no row names.
  const known = ports.processes.agentRuns().filter((run) => store.read.runs.exists(run));
  if (known.length > 0) ports.log.warn({ runs: known }, "ending what agents and commands of the previous server left");
  await ports.processes.endAgents(known);
  for (const { processId, runnerEpoch } of groups)
    await store.processes.ended({ processId, runnerEpoch, outcome: "orphaned" });
}
