/**
 * Messages of a run under one key: one thing, told as an alert. The first is a message, later ones edit it, a worse one is a new message, and the
 * final one closes it.
 */
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { ALERT } from "../../contracts/limits.ts";
import { isLive } from "../../alert/index.ts";
import { raiseAlert } from "../alerts/raise.ts";
import { recoverAlert } from "../alerts/recover.ts";
import { alertById, alertIdOf } from "../alerts/rows.ts";
import { runnerActor, shortIdOf, type RunRow } from "../runs/rows.ts";
import type { Tx } from "../tx.ts";
import type { SendInput } from "./send.ts";

type Keyed = SendInput & { readonly audience: string; readonly groupKey: string };

/** False for a final message that closes nothing: it is told like any other. Throws `alertInvalid`. */
export function tellKeyed(tx: Tx, run: RunRow, said: Keyed): boolean {
  const { access, audience, claim, kind, message, severity = "info", silent = false } = said;
  const key = { access, audience, groupKey: `${run.runId}/${said.groupKey}`, actor: runnerActor(claim) } as const;
  const lines = message.split("\n");
  if (kind === "final") {
    const open = alertById(tx, alertIdOf(audience, key.groupKey));
    if (open === undefined || !isLive(open.state)) return false;
    recoverAlert(tx, { ...key, lines, severity, loud: !silent });
    return true;
  }
  const { title, workflow } = namesOf(tx, run);
  raiseAlert(tx, {
    ...key,
    severity,
    subject: cutToUnits(title ?? workflow, ALERT.subjectUnits),
    lines,
    origin: { kind: "workflow", name: workflow, run: shortIdOf(tx, run.runId) },
    // The text is what changes; a worse severity is what somebody must notice.
    fingerprint: "progress",
    watchFlapping: false,
    loud: !silent,
  });
  return true;
}

function namesOf(tx: Tx, { runNo }: RunRow): { title: string | null; workflow: string } {
  const sql = "SELECT title, workflow_name AS workflow FROM runs WHERE run_no = ?";
  return tx.get<{ title: string | null; workflow: string }>(sql, runNo) ?? { title: null, workflow: "" };
}
