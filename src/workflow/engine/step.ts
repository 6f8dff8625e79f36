/** What a node came to, as the step that is told of it and the result that others see. */
import type { NodeResult, Position, StepEntry } from "../../contracts/protocol/runner.ts";
import type { SettingsVersion } from "../../contracts/settings.ts";
import type { Performed } from "./performed.ts";

type Done = Exclude<Performed, { kind: "parked" }>;

/** `bytes` of the output's JSON, or more. `elapsed` in milliseconds. */
export function stepOf(
  { nodeId, step }: Position,
  settings: SettingsVersion | undefined,
  performed: Done,
  elapsed: number,
): { result: NodeResult; entry: StepEntry; bytes: number } {
  const durationMs = Math.max(0, Math.round(elapsed * 1_000) / 1_000);
  if (performed.kind === "ok") {
    const { bytes, output } = performed;
    const result: NodeResult = Object.freeze({ nodeId, outcome: "ok", output });
    const entry: StepEntry = { step, nodeId, outcome: "ok", output, durationMs, next: null };
    return { result, entry: madeWith(entry, settings), bytes };
  }
  const { error, kind: outcome } = performed;
  const result: NodeResult = Object.freeze({
    nodeId,
    outcome,
    error: Object.freeze(error) as NodeResult["error"] & object,
  });
  const entry: StepEntry = { step, nodeId, outcome, error: result.error, durationMs, next: null };
  // Errors are bounded, but counted as if they were as large as they may be.
  return { result, entry: madeWith(entry, settings), bytes: 16_384 };
}

function madeWith(entry: StepEntry, settings: SettingsVersion | undefined): StepEntry {
  if (settings === undefined) return entry;
  const { changeNumber, scopeId } = settings;
  return { ...entry, settings: { scopeId, changeNumber } };
}
