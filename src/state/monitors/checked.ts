/**
 * `monitors.checked` and `monitors.beat`: results of checks and reports of jobs. One command for many results; each counts once, because
 * it names the moment that it was due for, which the row gives up with the first result.
 */
import type { Finding, ProbeResult } from "../../contracts/monitor/finding.ts";
import { observe } from "../../resource/rules/monitor/index.ts";
import { defineCommand } from "../command.ts";
import type { Access } from "../decisions/access.ts";
import { put as enqueueResource } from "../managed/enqueue.ts";
import type { Tx } from "../tx.ts";
import { wantRepair } from "./repair.ts";
import { monitorByNo, type MonitorRow } from "./rows.ts";
import { canTell, tell } from "./tell.ts";

/** What one check came to. */
export interface Checked {
  readonly monitorNo: number;
  /** The definition that was checked: a result of an older one does not count. */
  readonly specDigest: string;
  /** The `nextAt` that it was made for; null for one that somebody asked for. */
  readonly due: number | null;
  readonly result: ProbeResult;
  /** When it is looked at next. */
  readonly nextAt: number;
  /** Within a maintenance window. */
  readonly quiet: boolean;
  /** Checks that were due since the last one and that nobody could make. */
  readonly missed: number;
}

export interface CheckedOutcome {
  /** Results that counted. */
  readonly counted: number;
  /** What people are told now. */
  readonly changes: readonly { readonly monitor: string; readonly kind: string }[];
}

export const checked = defineCommand(
  "monitors.checked",
  (tx, input: { results: readonly Checked[]; access: Access }): CheckedOutcome => {
    const changes: { monitor: string; kind: string }[] = [];
    let counted = 0;
    for (const one of input.results) {
      const monitor = monitorByNo(tx, one.monitorNo);
      if (monitor?.specDigest !== one.specDigest) continue;
      if (one.due !== null && monitor.nextAt !== one.due) continue;
      counted += 1;
      const kind = take(tx, monitor, one, input.access);
      if (kind !== null) changes.push({ monitor: monitor.name, kind });
    }
    return { counted, changes };
  },
);

/** A job reported. `ok` false: it says itself that it failed. */
export const beat = defineCommand(
  "monitors.beat",
  (
    tx,
    input: Pick<Checked, "monitorNo" | "specDigest" | "nextAt" | "quiet"> & {
      readonly ok: boolean;
      readonly finding: Finding;
      readonly access: Access;
    },
  ): CheckedOutcome => {
    const monitor = monitorByNo(tx, input.monitorNo);
    if (monitor?.specDigest !== input.specDigest) return { counted: 0, changes: [] };
    tx.run("UPDATE monitors SET beat_at = ? WHERE monitor_no = ?", tx.now, monitor.monitorNo);
    const { finding, nextAt, ok, quiet } = input;
    const result = { ok, finding, durationMs: 0 };
    const kind = take(tx, monitor, { nextAt, quiet, missed: 0, result }, input.access);
    return { counted: 1, changes: kind === null ? [] : [{ monitor: monitor.name, kind }] };
  },
);

/** Nobody could look, or hear: it is due later, and nothing is said of the target. */
export const postpone = defineCommand(
  "monitors.postpone",
  (
    tx,
    input: { readonly monitorNo: number; readonly due: number; readonly nextAt: number; readonly missed: number },
  ): null => {
    tx.run(
      "UPDATE monitors SET next_at = ?, missed = missed + ? WHERE monitor_no = ? AND next_at = ?",
      input.nextAt,
      input.missed,
      input.monitorNo,
      input.due,
    );
    return null;
  },
);

function wakeResource(tx: Tx, uid: string): void {
  const row = tx.get<{ no: number; lane: string }>(
    "SELECT managed_no AS no, lane FROM managed_resources WHERE uid = ? AND deleted_at IS NULL",
    uid,
  );
  if (row !== undefined) enqueueResource(tx, row.no, row.lane, { reason: "monitor" });
}

/** One result into its row; returns what people are told. */
function take(
  tx: Tx,
  monitor: MonitorRow,
  { missed, nextAt, quiet, result }: Pick<Checked, "missed" | "nextAt" | "quiet" | "result">,
  access: Access,
): string | null {
  const { durationMs, finding, ok } = result;
  if (finding.code === "notProbed") {
    tx.run(
      "UPDATE monitors SET next_at = ?, last_finding = ?, unseen = unseen + 1, missed = missed + ? WHERE monitor_no = ?",
      nextAt,
      JSON.stringify(finding),
      missed + 1,
      monitor.monitorNo,
    );
    return null;
  }
  // Without anybody to tell, it is as in a maintenance window: told when there is.
  const held = quiet || !canTell(monitor.spec, access);
  const { change, state } = observe(monitor.state, monitor.spec, { ok, at: tx.now, quiet: held });
  tx.run(
    `UPDATE monitors SET state = ?, next_at = ?, last_at = ?, last_finding = ?, last_ms = ?, checks = checks + 1, failures = failures + ?,
       missed = missed + ?, unseen = 0, alerts = alerts + ?, repair = ? WHERE monitor_no = ?`,
    JSON.stringify(state),
    nextAt,
    tx.now,
    JSON.stringify(finding),
    durationMs,
    ok ? 0 : 1,
    missed,
    change === null || change.kind === "up" ? 0 : 1,
    // What was done against a trouble is over with it.
    state.told === "nothing" || monitor.repair === null ? null : JSON.stringify(monitor.repair),
    monitor.monitorNo,
  );
  const repair = state.told === "nothing" ? null : monitor.repair;
  const now = { ...monitor, state, lastFinding: finding, lastAt: tx.now, repair };
  tell(tx, now, change, finding, access);
  if (change?.kind === "down") wantRepair(tx, now, null);
  // Its status shows how it stands.
  const { resourceUid } = monitor;
  if (resourceUid !== null && (change !== null || state.standing !== monitor.state.standing))
    wakeResource(tx, resourceUid);
  return change?.kind ?? null;
}
