/**
 * Everything that wakes managed resources from outside: webhooks, watched files, schedules. (The end of a child run wakes its parent in
 * the store.) All of them end in the one queue of resources; an event is a hint, never a command.
 */
import type { Config } from "../../contracts/config.ts";
import { messageOf } from "../../contracts/errors.ts";
import { definedSources, type DefinedSources, type Source, type WatchSource } from "../../contracts/source.ts";
import type { Store } from "../../state/store.ts";
import type { Ports } from "../ports.ts";
import { untilWritten } from "../until-written.ts";
import { Schedules } from "./schedules.ts";
import { Watches } from "./watches.ts";
import { Webhooks } from "./webhooks.ts";

export interface SourcesDeps {
  readonly store: Store;
  readonly ports: Ports;
  readonly config: () => Config;
  /** Takes the report of a job. */
  readonly beat: (monitor: string, ok: boolean, detail: string | null) => Promise<void>;
  /** Something was queued. */
  readonly woken: () => void;
}

export class Sources {
  readonly #deps: SourcesDeps;
  readonly #webhooks: Webhooks;
  readonly #watches: Watches;
  readonly #schedules: Schedules;
  #defined: DefinedSources = { good: [], bad: [] };
  /** Watches whose change is being written; true: changed again meanwhile. */
  readonly #changes = new Map<string, boolean>();
  #stopped = false;
  readonly #pending = new Set<Promise<unknown>>();

  constructor(deps: SourcesDeps) {
    this.#deps = deps;
    const { beat, config, ports, store, woken } = deps;
    const { clock, log } = ports;
    this.#webhooks = new Webhooks({
      store,
      clock,
      log,
      homeKey: ports.homeKey ?? (() => Buffer.alloc(0)),
      sources: () => this.#ofType("webhook"),
      beat,
      woken,
    });
    this.#watches = new Watches(clock, log, (name, source) => this.#changed(name, source));
    this.#schedules = new Schedules({ store, clock, log, woken, zone: () => config().timeZone });
  }

  /** Sources of the configuration that are wrong, with the reasons. */
  get invalid(): DefinedSources["bad"] {
    return this.#defined.bad;
  }

  /** Works as the configuration says now. */
  async apply(): Promise<void> {
    const { config, ports } = this.#deps;
    this.#defined = definedSources(config());
    for (const { name, problems } of this.#defined.bad)
      ports.log.error({ source: name, problems }, "a source is invalid");
    const { webhooks } = config();
    const address = webhooks === undefined ? null : { host: webhooks.host, port: webhooks.port };
    await ports.hooks?.serve(address, (request) => this.#webhooks.take(request));
    await this.#schedules.apply(this.#ofType("schedule"));
    await this.#watches.apply(this.#ofType("watch"));
  }

  /** Where a job reports to; null when nothing comes in over HTTP. */
  heartbeatUrl(monitor: string): string | null {
    const { webhooks } = this.#deps.config();
    if (webhooks === undefined || this.#deps.ports.homeKey === undefined) return null;
    const host = webhooks.host.includes(":") ? `[${webhooks.host}]` : webhooks.host;
    const base = webhooks.publicUrl?.replace(/\/+$/, "") ?? `http://${host}:${webhooks.port}`;
    return `${base}/heartbeat/${encodeURIComponent(monitor)}/${this.#webhooks.token(monitor)}`;
  }

  async idle(): Promise<void> {
    await this.#schedules.idle();
    while (this.#pending.size > 0) await Promise.allSettled(this.#pending);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#deps.ports.hooks?.close();
    await Promise.all([this.#watches.stop(), this.#schedules.stop()]);
    await this.idle();
  }

  #changed(name: string, source: WatchSource): void {
    // While a full disk holds up one write, further changes need one more, not one each.
    if (this.#changes.has(name)) return void this.#changes.set(name, true);
    this.#changes.set(name, false);
    const { ports, store, woken } = this.#deps;
    const wakes = { projectPath: source.project, manager: source.resourceManager, key: source.key };
    // Nobody tells of the same change a second time.
    const work = untilWritten(
      ports,
      "a change of a watched path",
      () => store.sources.changed({ wakes, reason: "file" }),
      () => this.#stopped,
    )
      .then((outcome) => (outcome === "woken" ? woken() : undefined))
      .catch((error: unknown) => ports.log.error({ source: name, error: messageOf(error) }, "a change was not queued"))
      .finally(() => {
        this.#pending.delete(work);
        const again = this.#changes.get(name) === true;
        this.#changes.delete(name);
        if (again && !this.#stopped) this.#changed(name, source);
      });
    this.#pending.add(work);
  }

  #ofType<T extends Source["type"]>(type: T): ReadonlyMap<string, Extract<Source, { type: T }>> {
    return new Map(
      this.#defined.good.flatMap(({ name, source }) =>
        source.type === type ? [[name, source as Extract<Source, { type: T }>] as const] : [],
      ),
    );
  }
}
