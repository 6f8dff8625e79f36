/** Steps as a runner proposes them: how they are told, how routing sees them, and what they may not claim. */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import type { NodeResult, StepEntry } from "../../contracts/protocol/runner.ts";
import type { Tx } from "../tx.ts";
import { referenceTo } from "../values.ts";
import type { RunRow } from "./rows.ts";

/** Of an error in an event; the whole text is in the attempt's row. */
const ERROR_UNITS = 500;

/** What the event of a step says; the output itself is in the attempt's row. */
export function stepPayload(entry: StepEntry, visit: number): object {
  const { step, nodeId, outcome, next, durationMs } = entry;
  const payload = { durationMs, next, nodeId, outcome, step, visit };
  return entry.error === undefined
    ? payload
    : { ...payload, error: { code: entry.error.code, message: cutToUnits(entry.error.message, ERROR_UNITS) } };
}

/** The result of an entry as routing looks at it. Throws `contentInvalid` for an output that was not stored. */
export function asResult(tx: Tx, entry: StepEntry): NodeResult {
  const { error, nodeId, outcome, outputRef } = entry;
  const output =
    entry.output === undefined && outputRef !== undefined ? tx.unpack(referenceTo(tx, outputRef)) : entry.output;
  return {
    nodeId,
    outcome,
    ...(output === undefined ? {} : { output }),
    ...(error === undefined ? {} : { error }),
  };
}

/** Nodes whose output is what a person answered, or the time that came. */
const ANSWERED: ReadonlySet<string> = new Set(["humanDecision", "checkpoint", "sleep"]);

/** A runner cannot answer for a person or the clock: the result of such a node comes with the answer, and nowhere else. */
export function refuseAnswers(definition: DefinitionSnapshot, run: RunRow, entry: StepEntry): void {
  if (entry.outcome !== "ok" || !ANSWERED.has(definition.nodes[entry.nodeId]?.type ?? "")) return;
  throw new HoldpointError(
    "protocolRejected",
    `The runner of ${run.runId} gave an answer to node "${entry.nodeId}", which only a person or the clock can give.`,
  );
}

/**
 * Whether an entry is a settings route that was made with other settings than the present ones: it is executed again.
 * Changes are stored by commands of the same queue, so what is compared here is what stands when the step is stored.
 */
export function isStaleRoute(tx: Tx, definition: DefinitionSnapshot, entry: StepEntry): boolean {
  const { nodeId, outcome, settings } = entry;
  const type: string | undefined = definition.nodes[nodeId]?.type;
  if (type !== "settingsRoute" || outcome !== "ok" || settings === undefined) return false;
  const present = tx.get<{ number: number }>(
    'SELECT change_number AS "number" FROM workflow_settings WHERE scope_id = ?',
    settings.scopeId,
  );
  return present?.number !== settings.changeNumber;
}
