/**
 * Repairs: a workflow that a monitor names is started when somebody asks for it in a chat, or by the authority that is written in the
 * monitor. Wanting one and starting it are two commands, because the file of the workflow is looked for in between; what is wanted
 * stays wanted over a crash.
 */
import { makeRunId } from "../../contracts/ids.ts";
import { takeRepair } from "../alerts/people.ts";
import { defineCommand } from "../command.ts";
import type { Access } from "../decisions/access.ts";
import { insertRun } from "../runs/start.ts";
import type { Tx } from "../tx.ts";
import { tellAgain } from "./tell.ts";
import { monitorByName, monitorByNo, type MonitorRow, type Repair } from "./rows.ts";

const DAY_MS = 86_400_000;
const ACTOR = { type: "server", id: "monitors" } as const;

export type RepairVerdict = "wanted" | "already" | "notDown" | "none" | "spent";

/** Notes that a repair is wanted; starts nothing. `by` null: by the monitor's own authority. */
export function wantRepair(tx: Tx, monitor: MonitorRow, by: string | null): RepairVerdict {
  const { remediation } = monitor.spec;
  const since = monitor.state.troubleSince;
  if (remediation === undefined) return "none";
  if (since === null || monitor.state.told === "nothing") return "notDown";
  if (monitor.repair?.since === since && monitor.repair.status !== "refused") return "already";
  const recent = monitor.repairs.filter((at) => at > tx.now - DAY_MS);
  if (by === null) {
    if (remediation.authority === "ask" || monitor.repair?.since === since) return "none";
    if (recent.length >= remediation.authority.auto.perDay) return "spent";
    recent.push(tx.now);
  }
  save(tx, monitor, { since, status: "wanted", by, at: tx.now, runId: null, error: null }, recent);
  const actor = by === null ? ACTOR : ({ type: "human", id: by } as const);
  tx.event(monitor.resourceNo, { type: "monitor.repairWanted", actor, payload: { since, by } });
  return "wanted";
}

export interface AskRepair {
  readonly monitor: string;
  readonly by: string;
  /** The wish that was stored with the alert: taken in the same command, by one caller. */
  readonly wish: { readonly alertId: string; readonly episode: number } | null;
  readonly access: Access;
}

/** A person asks, by a button of the alert. */
export const askRepair = defineCommand("monitors.askRepair", (tx, input: AskRepair): RepairVerdict => {
  if (input.wish !== null && !takeRepair.run(tx, input.wish)) return "already";
  const monitor = monitorByName(tx, input.monitor);
  if (monitor === undefined) return "none";
  const verdict = wantRepair(tx, monitor, input.by);
  if (verdict === "wanted") again(tx, monitor, input.access);
  return verdict;
});

export interface StartRepair {
  readonly monitorNo: number;
  readonly since: number;
  /** Where the workflow was found, or why it was not. */
  readonly workflow:
    | { readonly name: string; readonly path: string; readonly projectPath: string }
    | { readonly error: string };
  readonly access: Access;
}

/** Starts a wanted repair, once: the run and the note are one command. */
export const startRepair = defineCommand("monitors.startRepair", (tx, input: StartRepair): { runId: string | null } => {
  const monitor = monitorByNo(tx, input.monitorNo);
  const repair = monitor?.repair;
  if (monitor === undefined || repair?.status !== "wanted" || repair.since !== input.since) return { runId: null };
  const { workflow } = input;
  if ("error" in workflow) {
    save(tx, monitor, { ...repair, status: "refused", error: workflow.error }, monitor.repairs);
    note(tx, monitor, "monitor.repairRefused", { since: repair.since, error: workflow.error });
    again(tx, monitor, input.access);
    return { runId: null };
  }
  const runId = makeRunId(workflow.name, tx.now, tx.random);
  insertRun(tx, {
    runId,
    workflow: workflow.name,
    workflowPath: workflow.path,
    projectPath: workflow.projectPath,
    packedInput: tx.pack({
      monitor: monitor.name,
      since: repair.since,
      finding: monitor.lastFinding,
      requestedBy: repair.by,
      input: monitor.spec.remediation?.input ?? null,
    }),
    actor: repair.by === null ? ACTOR : { type: "human", id: repair.by },
  });
  save(tx, monitor, { ...repair, status: "started", runId }, monitor.repairs);
  note(tx, monitor, "monitor.repairStarted", { since: repair.since, runId, by: repair.by });
  again(tx, monitor, input.access);
  return { runId };
});

/** The alert shows what became of the repair. */
function again(tx: Tx, { monitorNo }: MonitorRow, access: Access): void {
  const now = monitorByNo(tx, monitorNo);
  if (now !== undefined) tellAgain(tx, now, access);
}

function note(tx: Tx, monitor: MonitorRow, type: string, payload: object): void {
  tx.event(monitor.resourceNo, { type, actor: ACTOR, payload });
}

function save(tx: Tx, monitor: MonitorRow, repair: Repair, repairs: readonly number[]): void {
  tx.run(
    "UPDATE monitors SET repair = ?, repairs = ? WHERE monitor_no = ?",
    JSON.stringify(repair),
    JSON.stringify(repairs),
    monitor.monitorNo,
  );
}
