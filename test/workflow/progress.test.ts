// The estimator of progress: what it says and refuses to say, and what holds for every series of reports.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { progressSchema, type Progress } from "../../src/contracts/progress.ts";
import { estimate, observe, type ProgressTrack } from "../../src/workflow/rules/index.ts";

const MINUTE = 60_000;
const at = (completed: number, more: Partial<Progress> = {}): Progress => ({
  schema: "holdpoint.progress.v1",
  label: "Files",
  status: "running",
  completed,
  total: 100,
  unit: "files",
  ...more,
});
/** Reports one after the other, `everyMs` apart. */
function track(reports: readonly Progress[], everyMs = MINUTE): { track: ProgressTrack; now: number } {
  let made: ProgressTrack | undefined;
  let now = 0;
  for (const report of reports) made = observe(made, report, (now += everyMs));
  if (made === undefined) throw new Error("no report");
  return { track: made, now };
}
const ask = (reports: readonly Progress[], later = 0) => {
  const { now, track: made } = track(reports);
  return estimate(made, now + later);
};

describe("estimates", () => {
  it("one interval is enough for an estimate of low confidence", () => {
    expect(ask([at(0)])).toEqual({ kind: "unavailable", reason: "it has not advanced since it was first measured" });
    expect(ask([at(0), at(10)])).toEqual({
      kind: "estimate",
      by: "measured",
      remainingMs: { low: 9 * MINUTE, median: 9 * MINUTE, high: 9 * MINUTE },
      confidence: "low",
    });
  });

  it("steady intervals raise the confidence, from two to medium and from five to high", () => {
    expect(ask([0, 10, 20].map((n) => at(n)))).toMatchObject({ confidence: "medium" });
    expect(ask([0, 10, 20, 30, 40].map((n) => at(n)))).toMatchObject({ confidence: "medium" });
    expect(ask([0, 10, 20, 30, 40, 50].map((n) => at(n)))).toMatchObject({ confidence: "high" });
    expect(ask([0, 1, 21, 22, 52, 53].map((n) => at(n)))).toMatchObject({ confidence: "low" });
  });

  it("only the last eight intervals count", () => {
    const slow = [0, 1, 2, 3].map((n) => at(n));
    const fast = Array.from({ length: 9 }, (_, i) => at(4 + i * 10));
    expect(ask([...slow, ...fast])).toMatchObject({ remainingMs: { median: 1.6 * MINUTE }, confidence: "high" });
  });

  it("a new phase, unit or total, a step back, and work after the end begin a new epoch", () => {
    for (const next of [at(30, { phase: "b" }), at(30, { unit: "MB" }), at(30, { total: 200 }), at(5)]) {
      expect(track([at(0), at(10), at(20), next]).track.samples).toHaveLength(1);
    }
    const again = track([at(0), at(10), at(10, { status: "failed" }), at(20)]).track;
    expect(again.samples).toHaveLength(1);
  });

  it("a fresh estimate of the source wins; a stale or past one does not", () => {
    const { now, track: made } = track([at(0), at(10, { sourceEstimatedFinishAt: 10 * MINUTE })]);
    expect(estimate(made, now)).toMatchObject({ by: "source", remainingMs: { median: 8 * MINUTE }, confidence: null });
    expect(estimate(made, 10 * MINUTE + 1)).toMatchObject({ by: "measured" });
    const old = observe(
      made,
      at(20, { sourceEstimatedFinishAt: 100 * MINUTE, sourceUpdatedAt: 2 * MINUTE }),
      3 * MINUTE,
    );
    expect(estimate(old, 18 * MINUTE)).toMatchObject({ by: "measured" });
  });

  it("what waits, is blocked or over has no countdown, and says why", () => {
    for (const status of ["waiting", "blocked", "completed", "failed", "cancelled"] as const) {
      expect(ask([at(0), at(10), at(20, { status })])).toEqual({ kind: "unavailable", reason: `it is ${status}` });
    }
    const { total: _total, ...open } = at(20);
    expect(ask([open])).toEqual({ kind: "unavailable", reason: "its total is not known" });
  });

  it("the countdown goes on between reports and stops at zero", () => {
    expect(ask([at(0), at(10)], 4 * MINUTE)).toMatchObject({ remainingMs: { median: 5 * MINUTE } });
    expect(ask([at(0), at(10)], 99 * MINUTE)).toMatchObject({ remainingMs: { low: 0, median: 0, high: 0 } });
  });
});

describe("for every series of reports", () => {
  const report = fc.record({
    completed: fc.option(fc.nat(1_000), { nil: undefined }),
    total: fc.option(fc.integer({ min: 1_000, max: 2_000 }), { nil: undefined }),
    status: fc.constantFrom("pending", "running", "waiting", "blocked", "completed", "failed", "cancelled", "unknown"),
    phase: fc.option(fc.constantFrom("a", "b"), { nil: undefined }),
    sourceUpdatedAt: fc.option(fc.nat(10_000_000), { nil: undefined }),
    sourceEstimatedFinishAt: fc.option(fc.nat(20_000_000), { nil: undefined }),
    wait: fc.nat(600_000),
  });

  it("nothing is negative or not a number, the bounds are in order, and at most nine measurements are kept", () => {
    fc.assert(
      fc.property(fc.array(report, { minLength: 1, maxLength: 40 }), fc.nat(10_000_000), (reports, later) => {
        let made: ProgressTrack | undefined;
        let now = 0;
        for (const { wait, ...given } of reports) {
          now += wait;
          made = observe(made, { schema: "holdpoint.progress.v1", label: "x", unit: "u", ...given }, now);
          expect(made.samples.length).toBeLessThanOrEqual(9);
        }
        const said = estimate(made as never, now + later);
        if (said.kind === "unavailable") {
          expect(said.reason).not.toBe("");
          return;
        }
        const { high, low, median } = said.remainingMs;
        for (const value of [low, median, high]) expect(Number.isFinite(value) && value >= 0).toBe(true);
        expect(low <= median && median <= high).toBe(true);
        expect(["completed", "failed", "cancelled"]).not.toContain(made?.latest.status);
      }),
      { numRuns: 500 },
    );
  });

  it("a steady rate gives the exact rest, whatever the unit", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.integer({ min: 2, max: 9 }),
        fc.integer({ min: 1, max: 1_000 }),
        (perStep, steps, scale) => {
          const total = perStep * 20 * scale;
          const reports = Array.from({ length: steps }, (_, i) => at(i * perStep * scale, { total }));
          const said = ask(reports);
          const rest = 20 - (steps - 1);
          expect(said.kind === "estimate" && said.remainingMs.median).toBeCloseTo(rest * MINUTE, 3);
        },
      ),
    );
  });
});

describe("the form of progress", () => {
  const refused = (given: object): boolean => !progressSchema.safeParse({ ...at(1), ...given }).success;
  it("refuses unknown fields, counts beyond the total, counts without a unit, and texts that are too long", () => {
    expect(progressSchema.safeParse(at(1)).success).toBe(true);
    expect(
      [
        { percent: 3 },
        { completed: 101 },
        { unit: undefined },
        { total: 0 },
        { completed: -1 },
        { label: "x".repeat(201) },
        { phase: "" },
        { status: "busy" },
      ].map(refused),
    ).toEqual(Array.from({ length: 8 }, () => true));
  });
  it("takes the earlier system's name and times as text", () => {
    const given = { ...at(1), schema: "pi-workflows.progress.v1", sourceUpdatedAt: "2030-01-01T00:00:00+01:00" };
    expect(progressSchema.parse(given)).toMatchObject({
      schema: "holdpoint.progress.v1",
      sourceUpdatedAt: Date.UTC(2029, 11, 31, 23),
    });
  });
});
