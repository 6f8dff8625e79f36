/**
 * The one child that probes: started when the first probe is wanted, replaced when it dies or does not answer. Whatever happens to
 * it, each probe that was asked for gets one result; "could not be made" is one of them and says nothing about the target.
 */
import { randomUUID } from "node:crypto";
import { messageOf } from "../../contracts/errors.ts";
import { MONITOR, PROBES, PROCESS } from "../../contracts/limits.ts";
import type { ProbeResult } from "../../contracts/monitor/finding.ts";
import type { MonitorCheck } from "../../contracts/monitor/probe.ts";
import { fromProbesSchema, type FromProbes, type ToProbes } from "../../contracts/protocol/probes.ts";
import type { Store } from "../../state/store.ts";
import type { CrashLog } from "../crash-log.ts";
import type { Child, Log, Ports } from "../ports.ts";
import { untilWritten } from "../until-written.ts";

export interface ProbeOrder {
  /** The monitor, for records. */
  readonly name: string;
  readonly check: MonitorCheck;
  readonly timeoutMs: number;
  /** The server's time. */
  readonly now: number;
}

/** Makes probes. Never rejects. */
export interface Prober {
  probe(order: ProbeOrder): Promise<ProbeResult>;
  stop(): Promise<void>;
}

export interface ProberDeps {
  readonly store: Store;
  readonly ports: Ports;
  readonly log: Log;
  readonly serverEpoch: number;
  readonly crashes: CrashLog;
}

interface Asked {
  readonly order: ProbeOrder;
  readonly answer: (result: ProbeResult) => void;
  readonly guard: NodeJS.Timeout;
}

const NAME = "probes";

export class ChildProber implements Prober {
  readonly #deps: ProberDeps;
  readonly #asked = new Map<number, Asked>();
  /** Groups that commands run in, by the probe: registered, and not gone yet. */
  readonly #groups = new Map<
    number,
    { readonly childId: string; readonly pid: number; readonly startIdentity: string }
  >();
  #child: Promise<Child<FromProbes, ToProbes>> | undefined;
  #gone: Promise<void> = Promise.resolve();
  #number = 0;
  #stopping = false;

  constructor(deps: ProberDeps) {
    this.#deps = deps;
  }

  async probe(order: ProbeOrder): Promise<ProbeResult> {
    if (this.#stopping) return notProbed("the server stops");
    let child: Child<FromProbes, ToProbes>;
    try {
      child = await (this.#child ??= this.#start());
    } catch (error) {
      this.#child = undefined;
      return notProbed(messageOf(error));
    }
    if (child.port.closed) return notProbed("the probing process has just ended");
    const id = ++this.#number;
    return new Promise((resolve) => {
      // Real time: a child that hangs does so whatever the clock says.
      const guard = setTimeout(() => this.#hangs(child, id), order.timeoutMs + PROBES.hangMs);
      this.#asked.set(id, { order, answer: resolve, guard });
      const { check, now, timeoutMs } = order;
      child.port.send({ type: "probe", id, check, timeoutMs, now });
    });
  }

  /** Ends the child; probes under way are not made. */
  async stop(): Promise<void> {
    this.#stopping = true;
    const child = await this.#child?.catch(() => undefined);
    if (child !== undefined) {
      child.port.send({ type: "stop" });
      await child.stop(PROCESS.killGraceMs);
    }
    await this.#gone;
  }

  async #start(): Promise<Child<FromProbes, ToProbes>> {
    const { log, ports, serverEpoch, store } = this.#deps;
    await this.#gone;
    const child = await ports.launcher.launch<FromProbes, ToProbes>({
      kind: "probes",
      name: NAME,
      schema: fromProbesSchema,
    });
    const { childId, pid, startIdentity } = child;
    await untilWritten({ clock: ports.clock, log }, "the probing process", () =>
      store.children.register({ childId, kind: "probes", name: NAME, pid, startIdentity, epoch: serverEpoch }),
    );
    child.port.onFrame((frame) => this.#take(child, frame));
    child.port.send({ type: "launch", schema: "holdpoint.probes-launch.v1", protocol: 1 });
    this.#gone = this.#watch(child);
    return child;
  }

  #take(child: Child<FromProbes, ToProbes>, frame: FromProbes): void {
    switch (frame.type) {
      case "ready":
        return;
      case "result": {
        const { durationMs, finding, ok } = frame;
        return this.#answer(frame.id, { ok, finding, durationMs });
      }
      case "group":
        return void this.#register(child, frame).catch((error: unknown) => {
          this.#deps.log.error({ error: messageOf(error) }, "a command of a monitor could not be registered");
          void child.stop(0);
        });
      case "group.gone":
        return void this.#unregister(frame.id, frame.outcome);
    }
  }

  /** A command may start when its group is on disk: a server that dies leaves nothing that nobody knows. */
  async #register(child: Child<FromProbes, ToProbes>, frame: Extract<FromProbes, { type: "group" }>): Promise<void> {
    const { ports, serverEpoch, store } = this.#deps;
    const { id, pid, startIdentity } = frame;
    const group = { childId: `g-${randomUUID()}`, pid, startIdentity };
    ports.processes.watch(pid, "group");
    this.#groups.set(id, group);
    const name = this.#asked.get(id)?.order.name ?? "unknown";
    await store.children.register({ ...group, kind: "command", name, epoch: serverEpoch });
    child.port.send({ type: "registered", id });
  }

  async #unregister(id: number, outcome: string): Promise<void> {
    const { log, ports, store } = this.#deps;
    const group = this.#groups.get(id);
    if (group === undefined) return;
    this.#groups.delete(id);
    ports.processes.unwatch(group.pid);
    await untilWritten({ clock: ports.clock, log }, "the end of a monitor's command", () =>
      store.children.ended({ childId: group.childId, outcome: "exited", diagnostic: outcome }),
    ).catch((error: unknown) => log.error({ error: messageOf(error) }, "the end of a command was not written"));
  }

  /** Sees the child to its end: groups it left are ended, what was asked is answered. */
  async #watch(child: Child<FromProbes, ToProbes>): Promise<void> {
    const { crashes, log, ports, store } = this.#deps;
    const exit = await child.exited;
    this.#child = undefined;
    await child.stop(PROCESS.killGraceMs);
    const left = [...this.#groups.entries()];
    await ports.processes.endGroups(left.map(([, group]) => group));
    for (const [id] of left) await this.#unregister(id, "ended with the probing process");
    const outcome = this.#stopping ? "stopped" : (exit.signal ?? `code ${exit.code}`);
    if (!this.#stopping) {
      crashes.add("probes", NAME, exit);
      log.warn({ code: exit.code, signal: exit.signal }, "the probing process ended");
    }
    for (const id of this.#asked.keys()) this.#answer(id, notProbed("the probing process ended"));
    await untilWritten({ clock: ports.clock, log }, "the end of the probing process", () =>
      store.children.ended({ childId: child.childId, outcome, diagnostic: exit.diagnostic }),
    ).catch((error: unknown) =>
      log.error({ error: messageOf(error) }, "the end of the probing process was not written"),
    );
  }

  #answer(id: number, result: ProbeResult): void {
    const asked = this.#asked.get(id);
    if (asked === undefined) return;
    this.#asked.delete(id);
    clearTimeout(asked.guard);
    asked.answer(result);
  }

  #hangs(child: Child<FromProbes, ToProbes>, id: number): void {
    const name = this.#asked.get(id)?.order.name;
    this.#deps.log.error({ monitor: name }, "the probing process does not answer; it is replaced");
    this.#answer(id, notProbed("the probing process did not answer"));
    void child.stop(0);
  }
}

export function notProbed(detail: string): ProbeResult {
  return { ok: false, finding: { code: "notProbed", detail: detail.slice(0, MONITOR.detailChars) }, durationMs: 0 };
}
