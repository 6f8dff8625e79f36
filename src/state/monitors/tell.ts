/**
 * What becomes of what a monitor saw: an event of its own for each change, and the alert that people see. An alert that lasts is told
 * again with what was seen last, which edits its message.
 */
import type { AlertLine, Condition } from "../../contracts/alert.ts";
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import type { RemindAfter } from "../../contracts/decision/policy.ts";
import { sha256Hex } from "../../contracts/ids.ts";
import { ALERT } from "../../contracts/limits.ts";
import type { Finding } from "../../contracts/monitor/finding.ts";
import { monitorTitle, targetText, type MonitorSpec } from "../../contracts/monitor/spec.ts";
import type { Change } from "../../resource/rules/monitor/index.ts";
import { raiseAlert } from "../alerts/raise.ts";
import { recoverAlert } from "../alerts/recover.ts";
import { own, type Access } from "../decisions/access.ts";
import type { Tx } from "../tx.ts";
import type { MonitorRow, Repair } from "./rows.ts";

const ACTOR = { type: "server", id: "monitors" } as const;
const REMINDERS = 3;

/** Alerts of monitors are named by it. */
export const GROUP_PREFIX = "monitor:";

/** Whether there is anybody to tell: an audience may be taken away while its monitor stays. */
export function canTell({ audience }: MonitorSpec, access: Access): boolean {
  return own(access.audiences, audience) !== undefined;
}

/**
 * Called in the command that saw it, with the monitor as it is now. `change` null: nothing new. Returns whether there may be something
 * to send.
 */
export function tell(tx: Tx, monitor: MonitorRow, change: Change | null, finding: Finding, access: Access): boolean {
  if (change !== null) {
    tx.event(monitor.resourceNo, {
      type: `monitor.${change.kind}`,
      actor: ACTOR,
      payload: { ...change, finding, title: monitorTitle(monitor.name, monitor.spec) },
    });
  }
  // What was opened ends, also when its audience was taken away meanwhile.
  if (change?.kind === "up") {
    recoverAlert(tx, { access, ...groupOf(monitor), at: Math.min(change.to, tx.now), actor: ACTOR });
    return true;
  }
  if (!canTell(monitor.spec, access)) return false;
  // What is well, or only being confirmed, is no news of an alert that is open.
  if (monitor.state.told === "nothing" || (change === null && monitor.state.lastOk !== false)) return false;
  raise(tx, monitor, access, false);
  return true;
}

/** Says an open alert again at once, with what is known now: a repair was asked for, for example. */
export function tellAgain(tx: Tx, monitor: MonitorRow, access: Access): void {
  if (monitor.state.told !== "nothing" && canTell(monitor.spec, access)) raise(tx, monitor, access, true);
}

/** Closes what is open: the monitor goes, or looks at something else. */
export function closeTold(tx: Tx, monitor: MonitorRow, access: Access): void {
  if (monitor.state.told === "nothing") return;
  recoverAlert(tx, { access, ...groupOf(monitor), actor: ACTOR });
}

function raise(tx: Tx, monitor: MonitorRow, access: Access, atOnce: boolean): void {
  const { name, spec, state } = monitor;
  const { told } = state;
  if (told === "nothing") return;
  const lines: AlertLine[] = [];
  if (told === "unstable")
    lines.push({ changes: Math.max(1, state.flips.length), spanMs: tx.now - (state.flips[0]?.[1] ?? tx.now) });
  if (monitor.lastFinding !== null && monitor.lastFinding.code !== "ok")
    lines.push({
      finding: monitor.lastFinding,
      ...(told === "down" && state.failed > 0 ? { checks: state.failed } : {}),
    });
  // As much of a target as an alert has room for: its name and its path may be longer.
  lines.push(cutToUnits(targetText(spec.check), ALERT.wordedUnits));
  if (spec.runbook !== undefined) lines.push({ runbook: spec.runbook });
  if (monitor.repair !== null) lines.push(repairLine(monitor.repair));
  raiseAlert(tx, {
    access,
    ...groupOf(monitor),
    severity: spec.severity,
    subject: cutToUnits(monitorTitle(name, spec).trim() || name, ALERT.subjectUnits),
    condition: conditionOf(told, spec),
    lines,
    origin: { kind: "monitor", name },
    since: Math.min(state.troubleSince ?? tx.now, tx.now),
    remind: remindOf(spec),
    repair: spec.remediation !== undefined,
    watchFlapping: false,
    atOnce,
    actor: ACTOR,
  });
}

function groupOf({ name, spec }: MonitorRow): { readonly audience: string; readonly groupKey: string } {
  const groupKey = `${GROUP_PREFIX}${name}`;
  // Names that are longer are refused; one from before that was alerts as well.
  return {
    audience: spec.audience,
    groupKey: groupKey.length <= ALERT.keyUnits ? groupKey : `${GROUP_PREFIX}${sha256Hex(name)}`,
  };
}

function conditionOf(told: "down" | "unstable", { check }: MonitorSpec): Condition {
  if (told === "unstable") return "unstable";
  if (check.type === "http" || check.type === "tcp") return "down";
  return check.type === "heartbeat" ? "late" : "failing";
}

function remindOf({ remind }: MonitorSpec): RemindAfter | null {
  if (remind === undefined) return null;
  const everyMs = remind.minutes * 60_000;
  return { afterMs: everyMs, everyMs, atMost: remind.atMost ?? REMINDERS };
}

function repairLine({ by, error, runId, status }: Repair): AlertLine {
  return {
    repair: status,
    ...(runId === null ? {} : { run: runId.slice(runId.lastIndexOf("-") + 1).slice(0, 4) }),
    ...(by === null ? {} : { by }),
    ...(error === null ? {} : { error: error.slice(0, 200) }),
  };
}
