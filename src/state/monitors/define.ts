/** Which monitors there are: those of the configuration as a whole, those of resources one by one. */
import { sha256Digest } from "../../contracts/canonical.ts";
import type { MonitorSpec } from "../../contracts/monitor/spec.ts";
import { NEW_STATE } from "../../resource/rules/monitor/index.ts";
import { defineCommand } from "../command.ts";
import type { Access } from "../decisions/access.ts";
import type { Tx } from "../tx.ts";
import { closeTold } from "./tell.ts";
import { laneOf, monitorByName, monitorByNo, type MonitorOrigin } from "./rows.ts";

export interface Defined {
  readonly name: string;
  readonly spec: MonitorSpec;
  /** When a new or changed one is looked at first. */
  readonly firstAt: number;
}

export interface SyncInput {
  readonly monitors: readonly Defined[];
  /** Names whose definition is wrong at the moment: what is known of them goes on. */
  readonly keep: readonly string[];
  readonly access: Access;
}

export interface SyncOutcome {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
}

/** Makes the monitors of the configuration those that it names. */
export const sync = defineCommand("monitors.sync", (tx, input: SyncInput): SyncOutcome => {
  const counts = { added: 0, changed: 0, removed: 0 };
  const wanted = new Set([...input.monitors.map(({ name }) => name), ...input.keep]);
  const present = tx.all<{ monitorNo: number; name: string }>(
    "SELECT monitor_no AS monitorNo, name FROM monitors WHERE origin = 'config'",
  );
  for (const { monitorNo, name } of present) {
    if (wanted.has(name)) continue;
    removeMonitor(tx, monitorNo, input.access);
    counts.removed += 1;
  }
  for (const monitor of input.monitors) {
    const done = putMonitor(tx, monitor, "config", input.access);
    if (done !== "same") counts[done] += 1;
  }
  return counts;
});

export interface PutInput extends Defined {
  /** The uid of the resource that asks for it. */
  readonly resource: string;
  readonly access: Access;
}

/** The monitor of a managed resource. */
export const put = defineCommand("monitors.put", (tx, input: PutInput): "added" | "changed" | "same" => {
  const done = putMonitor(tx, input, "resource", input.access);
  tx.run("UPDATE monitors SET resource_uid = ? WHERE name = ?", input.resource, input.name);
  return done;
});

/** Takes the monitor of a resource away; one that is not there is away. */
export const remove = defineCommand("monitors.remove", (tx, input: { name: string; access: Access }): null => {
  const found = monitorByName(tx, input.name);
  if (found !== undefined) removeMonitor(tx, found.monitorNo, input.access);
  return null;
});

/**
 * Adds a monitor or gives it a new definition. Its standing is kept, as long as it looks at the same thing: whoever changes an interval
 * during an outage must not be told that it began anew.
 */
export function putMonitor(
  tx: Tx,
  { firstAt, name, spec }: Defined,
  origin: MonitorOrigin,
  access: Access,
): "added" | "changed" | "same" {
  const digest = sha256Digest(spec);
  const found = monitorByName(tx, name);
  if (found === undefined) {
    const resourceNo = tx.resource("monitor", name);
    tx.run(
      "INSERT INTO monitors (name, resource_no, origin, lane, spec, spec_digest, state, next_at, created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
      name,
      resourceNo,
      origin,
      laneOf(spec),
      tx.pack(spec),
      digest,
      JSON.stringify(NEW_STATE),
      firstAt,
      tx.now,
    );
    tx.event(resourceNo, { type: "monitor.added", actor: ACTOR, payload: { origin, digest } });
    return "added";
  }
  if (found.specDigest === digest && found.origin === origin) return "same";
  const { audience, check } = found.spec;
  const another = sha256Digest(check.target) !== sha256Digest(spec.check.target);
  // What was opened for other people, or about another thing, is closed there.
  if (another || audience !== spec.audience) closeTold(tx, found, access);
  const state = another
    ? NEW_STATE
    : audience === spec.audience
      ? found.state
      : { ...found.state, told: "nothing" as const };
  tx.run(
    "UPDATE monitors SET origin = ?, lane = ?, spec = ?, spec_digest = ?, state = ?, next_at = ?, unseen = 0, repair = NULL WHERE monitor_no = ?",
    origin,
    laneOf(spec),
    tx.pack(spec),
    digest,
    JSON.stringify(state),
    firstAt,
    found.monitorNo,
  );
  tx.event(found.resourceNo, { type: "monitor.changed", actor: ACTOR, payload: { origin, digest } });
  return "changed";
}

/** Takes a monitor away and closes what it had opened. Its events stay. */
export function removeMonitor(tx: Tx, monitorNo: number, access: Access): void {
  const monitor = monitorByNo(tx, monitorNo);
  if (monitor === undefined) return;
  closeTold(tx, monitor, access);
  tx.event(monitor.resourceNo, { type: "monitor.removed", actor: ACTOR, payload: { origin: monitor.origin } });
  tx.run("DELETE FROM monitors WHERE monitor_no = ?", monitorNo);
}

const ACTOR = { type: "server", id: "monitors" } as const;
