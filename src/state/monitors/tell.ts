/** What becomes of a change of a monitor: an event of its own, and the alert that people see. */
import { monitorTitle } from "../../contracts/monitor/spec.ts";
import type { Finding } from "../../contracts/monitor/finding.ts";
import type { Change } from "../../resource/rules/monitor/index.ts";
import type { Access } from "../decisions/access.ts";
import type { Tx } from "../tx.ts";
import type { MonitorRow } from "./rows.ts";

const ACTOR = { type: "server", id: "monitors" } as const;

/** Tells a change, or that what was told before lasts; called in the command that saw it. */
export function tell(tx: Tx, monitor: MonitorRow, change: Change | null, finding: Finding, _access: Access): void {
  if (change === null) return;
  tx.event(monitor.resourceNo, {
    type: `monitor.${change.kind}`,
    actor: ACTOR,
    payload: { ...change, finding, title: monitorTitle(monitor.name, monitor.spec) },
  });
}

/** Closes what is open: the monitor goes, or looks at something else. */
export function closeTold(_tx: Tx, monitor: MonitorRow, _access: Access): void {
  if (monitor.state.told === "nothing") return;
}
