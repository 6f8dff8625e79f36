/**
 * Random workflows, with crashes at random frames, come to what the reference interpreter says they come to. The same cases
 * every time; for a soak set HOLDPOINT_MODEL_RUNS and HOLDPOINT_MODEL_SEED, to repeat a failure HOLDPOINT_MODEL_CASE.
 */
import { expect, it } from "vitest";
import { conforms, search, type Case } from "./engine/compare.ts";
import { MODEL } from "./engine/mutations.ts";
import { interpret } from "./engine/reference.ts";
import type { Plan } from "./engine/plan.ts";

const { HOLDPOINT_MODEL_CASE, HOLDPOINT_MODEL_RUNS, HOLDPOINT_MODEL_SEED } = process.env;
const runs = Number(HOLDPOINT_MODEL_RUNS ?? MODEL.runs);
const seed = Number(HOLDPOINT_MODEL_SEED ?? MODEL.seed);

/** Generous: a case takes 60 ms on a quiet machine, and a failure is made small afterwards. */
const TIMEOUT_MS = 90_000 + runs * 500;

it.runIf(HOLDPOINT_MODEL_CASE !== undefined)("the case that was asked for conforms to the reference", async () => {
  const { plan, weather } = JSON.parse(HOLDPOINT_MODEL_CASE as string) as Case;
  await conforms(plan, weather);
});

it(
  "the engine does what the reference does: order, outputs, effects and end, whatever crashes",
  async () => {
    const seen = new Map<string, number>();
    const count = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);
    await search({
      runs,
      seed,
      onPlayed: ({ attempts, story, struck }) => {
        count(story.error ?? story.status);
        for (const fault of struck) count(fault);
        if (story.steps.some((step) => step.includes("/"))) count("mounts");
        if (Object.values(story.outputs).includes("slept")) count("slept");
        if ([...attempts.values()].some((list) => list.length > 1)) count("repeated");
      },
    });
    // Nothing of this would be shown if it did not occur.
    const wanted =
      "completed maxSteps routingFailed nodeFailed nodeTimedOut notCanonical includeInput mounts repeated slept";
    for (const what of `${wanted} killBefore killAfter server refused`.split(" "))
      expect([what, seen.get(what) ?? 0]).not.toEqual([what, 0]);
  },
  TIMEOUT_MS,
);

it("the reference says of a small workflow what a reader says of it", () => {
  const plan: Plan = {
    start: "a",
    maxSteps: 9,
    nodes: { a: { kind: "compute", deeds: ["x", "fail"] }, b: { kind: "idempotent", deeds: ["y"] } },
    mounts: {},
    exits: {},
    edges: {
      a: { on: "outcome", cases: { ok: "b", failed: "b" } },
      b: { to: "a" },
    },
  };
  const story = interpret({ ...plan, maxSteps: 4 });
  expect(story.steps).toEqual(["a ok", "b ok", "a failed", "b ok"]);
  expect([story.status, story.error, story.effects]).toEqual(["failed", "maxSteps", ["b#1 applied", "b#2 applied"]]);
  // A failed visit takes the earlier output away.
  expect(Object.keys(story.outputs)).toEqual(["b"]);
  expect(story.outputs["b"]).toMatchObject({ tag: "b2", r: "y" });
  expect((story.outputs["b"] as { seen: string }).seen).toMatch(/^b=b1\.\w{4}\|a:failed b:ok\|3\|<given>$/);
});
