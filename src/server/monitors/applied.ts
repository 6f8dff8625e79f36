/**
 * Monitors that are applied as managed resources of the manager `monitor`: a pass makes the monitor what its spec says, or takes it away,
 * and puts into the status how it stands. The looking itself is the same as for monitors of the configuration.
 */
import { randomUUID } from "node:crypto";
import type { Config } from "../../contracts/config.ts";
import { messageOf, toErrorRecord } from "../../contracts/errors.ts";
import { sha256Hex } from "../../contracts/ids.ts";
import { monitorTrouble, nameTrouble } from "../../contracts/monitor/defined.ts";
import { monitorInvalid, readMonitorSpec, type MonitorSpec } from "../../contracts/monitor/spec.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ClaimedResource, FinishInput, Store } from "../../state/store.ts";
import type { AccessSource } from "../context.ts";
import type { Clock, Log, Timer } from "../ports.ts";
import { Pump } from "../pump.ts";
import type { BuiltinManager } from "../resources/resources.ts";
import { firstAt } from "./rhythm.ts";

type PassEnd = FinishInput["end"];

const NAME = "monitor";
/** Of the resource, behind the key in the name of its monitor. */
const MARK_CHARS = 6;
/** Keeps the resource until its monitor is gone. */
const FINALIZER = "holdpoint/monitor";

export interface AppliedDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly access: AccessSource;
  readonly config: () => Config;
  readonly serverEpoch: number;
  /** Something is to be looked at, or an alert was closed. */
  readonly changed: () => void;
}

export class AppliedMonitors {
  readonly #deps: AppliedDeps;
  readonly #pump: Pump;
  #timer: Timer | undefined;
  #stopped = false;

  constructor(deps: AppliedDeps) {
    this.#deps = deps;
    const { clock, log } = deps;
    this.#pump = new Pump({ work: () => this.#run(), clock, log, what: "applying monitors" });
  }

  get manager(): BuiltinManager {
    return {
      name: NAME,
      source: "builtin:monitor@1",
      prepare: (given, key) => {
        // What is stored is what was written; it is read again in each pass, with the configuration of then.
        this.#read(given, key);
        return { spec: given, initialStatus: { standing: "new" } };
      },
      wake: () => this.#pump.wake(),
    };
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
    const { clock, log, serverEpoch, store } = this.#deps;
    this.#timer?.cancel();
    for (;;) {
      const reconcileId = `m-${randomUUID()}`;
      const claimed = await store.managed.claim({ lane: NAME, reconcileId, serverEpoch, held: [] });
      if (claimed === null) break;
      const began = clock.now();
      const { claim, resource } = claimed;
      let end: PassEnd;
      try {
        end = await this.#pass(claimed);
      } catch (error) {
        log.error(
          { key: resource.metadata.key, error: messageOf(error) },
          "an applied monitor could not be reconciled",
        );
        end = { outcome: "failed", error: toErrorRecord(error) };
      }
      const { generation } = resource.metadata;
      await store.managed.finish({ claim, generation, durationMs: clock.now() - began, end });
      this.#deps.changed();
    }
    if (this.#stopped) return;
    const { next } = store.read.managed.dueAt(NAME, clock.now(), 1);
    if (next !== null) this.#timer = clock.timer(next, () => this.#pump.wake());
  }

  async #pass({ claim, resource }: ClaimedResource): Promise<PassEnd> {
    const { access, clock, config, store } = this.#deps;
    const { deletionTimestamp, key, uid } = resource.metadata;
    // Keys of two projects may be the same, and a resource that is made again is another one.
    const name = `${key}@${sha256Hex(uid).slice(0, MARK_CHARS)}`;
    if (deletionTimestamp !== undefined) {
      await store.monitors.remove({ name, access: access() });
      await store.managed.finalizer({ claim, finalizer: FINALIZER, present: false });
      return { outcome: "settled", resourceManagerStatus: { standing: "removed" } };
    }
    const spec = this.#read(resource.spec, key);
    await store.managed.finalizer({ claim, finalizer: FINALIZER, present: true });
    await store.monitors.put({
      name,
      spec,
      firstAt: firstAt(spec, clock.now(), config().timeZone),
      resource: uid,
      access: access(),
    });
    return this.#settled(name);
  }

  #settled(name: string): PassEnd {
    const { state } = this.#deps.store.read.monitors.get(name);
    const standing = state.unstable ? "unstable" : state.standing;
    return {
      outcome: "settled",
      resourceManagerStatus: { monitor: name, standing },
      conditions: [
        {
          type: "Ready",
          status: standing === "new" ? ("unknown" as const) : standing === "up",
          reason: { new: "NotSeenYet", up: "AsExpected", down: "Down", unstable: "Unstable" }[standing],
        },
      ],
    };
  }

  /** Throws `monitorInvalid`. */
  #read(given: JsonValue, key: string): MonitorSpec {
    const read = readMonitorSpec(given);
    const problems = [
      ...nameTrouble(key, MARK_CHARS + 1),
      ...("problems" in read ? read.problems : monitorTrouble(read.spec, this.#deps.config())),
    ];
    if ("spec" in read && problems.length === 0) return read.spec;
    throw monitorInvalid("The monitor", problems);
  }
}
