/** Monitors as clients and the operator chat see them. */
import type { MonitorDetail, MonitorStanding, MonitorSummary } from "../../contracts/protocol/monitor-operations.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { monitorTitle, targetText } from "../../contracts/monitor/spec.ts";
import { inWindow } from "../../contracts/schedule.ts";
import type { MonitorRow } from "../../state/store.ts";
import type { ServerCore } from "../core.ts";

export function monitorSummary(row: MonitorRow, now: number, zone: string): MonitorSummary {
  const { name, spec, state } = row;
  const standing: MonitorStanding = state.unstable ? "unstable" : state.standing;
  return {
    name,
    title: monitorTitle(name, spec),
    target: targetText(spec.check),
    type: spec.check.type,
    origin: row.origin,
    standing,
    since: state.standing === "new" ? null : state.since,
    alert: state.told !== "nothing",
    maintenance: inWindow(spec.maintenance, now, zone),
    lastAt: row.lastAt,
    finding: row.lastFinding,
    row: state.row,
    wanted: state.lastOk === false ? spec.failAfter : spec.recoverAfter,
    nextAt: row.nextAt,
    checks: row.checks,
    failures: row.failures,
    missed: row.missed,
    unseen: row.unseen,
    audience: spec.audience,
    severity: spec.severity,
  };
}

/** Throws `monitorUnknown`. */
export function monitorDetail(core: ServerCore, name: string): MonitorDetail {
  const { ports, store } = core.options;
  const row = store.read.monitors.get(name);
  const { repair, spec } = row;
  return {
    ...monitorSummary(row, ports.clock.now(), core.config.timeZone),
    spec: withoutSecrets(spec as unknown as JsonValue),
    lastMs: row.lastMs,
    alerts: row.alerts,
    beatAt: row.beatAt,
    heartbeatUrl: spec.check.type === "heartbeat" ? core.sources.heartbeatUrl(name) : null,
    repair:
      repair === null
        ? null
        : { status: repair.status, by: repair.by, at: repair.at, runId: repair.runId, error: repair.error },
    events: store.read.monitors.events(name),
  };
}

/** Headers may carry keys: their names are shown, their values are not. */
function withoutSecrets(value: JsonValue): JsonValue {
  return JSON.parse(
    JSON.stringify(value, (key, inner: unknown) =>
      key === "headers" && typeof inner === "object" && inner !== null
        ? Object.fromEntries(Object.keys(inner).map((name) => [name, "…"]))
        : inner,
    ),
  ) as JsonValue;
}
