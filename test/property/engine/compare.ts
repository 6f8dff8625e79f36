/** What must hold between the story of the reference and what the engine did. */
import { deepStrictEqual } from "node:assert";
import fc from "fast-check";
import { faults, plans } from "./arbitrary.ts";
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
  const done = new Set<string>();
  for (const { acted, attempt, effectId, path, repeatable } of ledger.executions) {
    const key = `${effectId} ${attempt}`;
    if (seen.has(key)) throw new Error(`${path} ran twice as attempt ${attempt} of one effect`);
    seen.add(key);
    if (attempts.get(effectId)?.some((known) => known.attempt === attempt) !== true)
      throw new Error(`${path} ran as attempt ${attempt}, which is not recorded`);
    if (acted && !repeatable && done.has(effectId)) throw new Error(`${path} happened twice`);
    if (acted) done.add(effectId);
  }
}

export interface Case {
  readonly plan: Plan;
  readonly weather: readonly Fault[];
}
const cases: fc.Arbitrary<Case> = fc.record({ plan: plans, weather: faults });

/** A failure is made smaller for this long; what is found by then is shown. */
const SHRINK_MS = 40_000;

export interface Search {
  readonly runs: number;
  readonly seed: number;
  readonly onPlayed?: (played: Played) => void;
  /** A search that only has to find something need not make it small. */
  readonly shrink?: boolean;
}

/** Looks for a case that does not conform; rejects with the smallest one found, as text and as something to play again. */
export async function search({ onPlayed, runs, seed, shrink = true }: Search): Promise<void> {
  let shrinkUntil = Number.POSITIVE_INFINITY;
  const property = fc.asyncProperty(cases, async ({ plan, weather }) => {
    if (Date.now() > shrinkUntil) return;
    try {
      const played = await conforms(plan, weather);
      onPlayed?.(played);
    } catch (error) {
      shrinkUntil = Math.min(shrinkUntil, Date.now() + SHRINK_MS);
      throw error;
    }
  });
  const { counterexample, errorInstance, failed, numRuns } = await fc.check(property, {
    numRuns: runs,
    seed,
    endOnFailure: !shrink,
  });
  if (!failed) return;
  const [found] = counterexample as [Case];
  const what = errorInstance instanceof Error ? errorInstance.message : String(errorInstance);
  throw new Error(`Case ${numRuns} of seed ${seed}: ${what}\n\n${told(found)}`);
}

function told({ plan, weather }: Case): string {
  const storms = weather.map(({ frame, kind }) => `${kind} at frame ${frame}`).join(", ") || "none";
  const again = JSON.stringify({ plan, weather } satisfies Case).replaceAll("'", "\\u0027");
  return `The workflow:\n${shown(plan)}\nFaults: ${storms}\nAgain: HOLDPOINT_MODEL_CASE='${again}'`;
}
