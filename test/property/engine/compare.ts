/** What must hold between the story of the reference and what the engine did. */
import { plans, faults } from "./arbitrary.ts";
import fc from "fast-check";
import { deepStrictEqual } from "node:assert";
import { play, type Played } from "./play.ts";
import { shown, type Fault, type Plan } from "./plan.ts";
import { interpret } from "./reference.ts";

/** Plays a plan and throws when anything differs from the reference. */
export async function conforms(plan: Plan, weather: readonly Fault[]): Promise<Played> {
  const played = await play(plan, weather);
  deepStrictEqual(played.story, interpret(plan));
  actedAsRecorded(played);
  return played;
}

/** No action was done twice without an attempt that says so, and none that may not be repeated was done twice at all. */
function actedAsRecorded({ attempts, ledger }: Played): void {
  const seen = new Set<string>();
  for (const { attempt, effectId, path } of ledger.executions) {
    const key = `${effectId} ${attempt}`;
    if (seen.has(key)) throw new Error(`${path} ran twice as attempt ${attempt} of one effect`);
    seen.add(key);
    if (attempts.get(effectId)?.some((known) => known.attempt === attempt) !== true)
      throw new Error(`${path} ran as attempt ${attempt}, which is not recorded`);
  }
}

/** One case of the search. */
const cases = fc.record({ plan: plans, weather: faults });

export interface Search {
  readonly runs: number;
  readonly seed: number;
  /** Of a case that was reported: only this one is played. */
  readonly path?: string | undefined;
  readonly onPlayed?: (played: Played) => void;
  /** A search that only has to find something need not make it small. */
  readonly shrink?: boolean;
}

/** Looks for a case that does not conform; rejects with the smallest one found, its seed and path. */
export async function search({ onPlayed, path, runs, seed, shrink = true }: Search): Promise<void> {
  const property = fc.asyncProperty(cases, async ({ plan, weather }) => {
    const played = await conforms(plan, weather);
    onPlayed?.(played);
  });
  const result = await fc.check(property, { numRuns: runs, seed, endOnFailure: !shrink, ...(path === undefined ? {} : { path }) });
  if (!result.failed) return;
  const { counterexample, counterexamplePath, errorInstance } = result;
  const { plan, weather } = (counterexample as [{ plan: Plan; weather: readonly Fault[] }])[0];
  const storms = weather.map(({ frame, kind }) => `${kind} at frame ${frame}`).join(", ") || "none";
  const again = `HOLDPOINT_MODEL_SEED=${seed} HOLDPOINT_MODEL_PATH=${counterexamplePath}`;
  const what = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  throw new Error(`${what}\n\nThe workflow:\n${shown(plan)}\nFaults: ${storms}\nAgain: ${again}`);
}
