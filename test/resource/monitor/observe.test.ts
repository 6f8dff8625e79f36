import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MONITOR } from "../../../src/contracts/limits.ts";
import { NEW_STATE, observe, type Change, type MonitorState } from "../../../src/resource/rules/monitor/index.ts";

const RULES = { failAfter: 3, recoverAfter: 2 };
const MINUTE = 60_000;

interface Played {
  readonly state: MonitorState;
  readonly told: { readonly at: number; readonly change: Change }[];
}

/** Results one minute apart: `+` and `-`, in brackets those of a maintenance window. */
function play(text: string, rules = RULES, from: MonitorState = NEW_STATE): Played {
  let state = from;
  let quiet = false;
  let at = 0;
  const told: { at: number; change: Change }[] = [];
  for (const sign of text) {
    if (sign === "(" || sign === ")") quiet = sign === "(";
    else {
      const { state: next, change } = observe(state, rules, { ok: sign === "+", at, quiet });
      state = next;
      if (change !== null) told.push({ at: at / MINUTE, change });
      at += MINUTE;
    }
  }
  return { state, told };
}

const kinds = (text: string, rules = RULES): string[] =>
  play(text, rules).told.map(({ at, change }) => `${at}:${change.kind}`);

describe("a monitor", () => {
  test("tells that a target is down only after so many failures in a row, counted from the first", () => {
    expect(kinds("++--+--")).toEqual([]);
    expect(play("++---").told).toEqual([
      { at: 4, change: { kind: "down", since: 2 * MINUTE, checks: 3, was: "nothing" } },
    ]);
  });

  test("tells once, however long it lasts, and closes what it opened with the whole time", () => {
    expect(play("+-----+-+++").told.map(({ change }) => change)).toEqual([
      { kind: "down", since: MINUTE, checks: 3, was: "nothing" },
      { kind: "up", from: MINUTE, to: 8 * MINUTE, was: "down" },
    ]);
  });

  test("says nothing of a target that was up from the first look, and tells of one that never was", () => {
    expect(kinds("+++++")).toEqual([]);
    expect(kinds("---")).toEqual(["2:down"]);
  });

  test("names a target unstable once when its results keep changing, also where no failure is ever confirmed", () => {
    const { told } = play("+-+-+-+-+-+-+-+-");
    expect(told.map(({ change }) => change.kind)).toEqual(["unstable"]);
    expect(told[0]?.change).toMatchObject({ changes: MONITOR.flapChanges, spanMs: 7 * MINUTE });
  });

  test("is quiet until an unstable target is calm, and then tells how it is", () => {
    const shaky = "+-+-+-+-+";
    expect(play(`${shaky}${"+".repeat(9)}`).told.map(({ change }) => change.kind)).toEqual(["unstable", "up"]);
    expect(play(`${shaky}${"+".repeat(8)}`).told.map(({ change }) => change.kind)).toEqual(["unstable"]);
    const ended = play(`${shaky}${"-".repeat(MONITOR.calmChecks)}`).told.map(({ change }) => change);
    expect(ended.map(({ kind }) => kind)).toEqual(["unstable", "down"]);
    expect(ended[1]).toMatchObject({ was: "unstable", since: 9 * MINUTE });
  });

  test("opens nothing within a maintenance window and tells afterwards what is still so", () => {
    expect(kinds("+(-----)++")).toEqual([]);
    expect(kinds("+(-----)-")).toEqual(["6:down"]);
    expect(kinds("+---(++)")).toEqual(["3:down", "5:up"]);
  });
});

describe("for any row of results", () => {
  const results = fc.array(fc.record({ ok: fc.boolean(), quiet: fc.boolean() }), { maxLength: 200 });
  const rules = fc.record({ failAfter: fc.integer({ min: 1, max: 6 }), recoverAfter: fc.integer({ min: 1, max: 6 }) });

  test("what was told is a sentence: an opening, changes of it, its end; never twice the same", () => {
    fc.assert(
      fc.property(results, rules, (row, confirm) => {
        let state = NEW_STATE;
        let open: string | null = null;
        for (const [index, { ok, quiet }] of row.entries()) {
          const { state: next, change } = observe(state, confirm, { ok, quiet, at: index * MINUTE });
          state = next;
          if (change === null) continue;
          if (change.kind === "up") {
            expect(open).toBe(change.was);
            open = null;
          } else {
            expect(quiet).toBe(false);
            expect(change.kind).not.toBe(open);
            open = change.kind;
          }
        }
        expect(state.told).toBe(open ?? "nothing");
      }),
    );
  });

  test("a calm end is always told truthfully, whatever came before", () => {
    fc.assert(
      fc.property(results, rules, fc.boolean(), (row, confirm, ok) => {
        let state = NEW_STATE;
        const calm = Array.from({ length: MONITOR.flapChecks + MONITOR.calmChecks }, () => ({ ok, quiet: false }));
        for (const [index, result] of [...row, ...calm].entries())
          state = observe(state, confirm, { ...result, at: index * MINUTE }).state;
        expect(state.told).toBe(ok ? "nothing" : "down");
        expect(state.standing).toBe(ok ? "up" : "down");
      }),
    );
  });

  test("its state stays small", () => {
    fc.assert(
      fc.property(results, (row) => {
        let state = NEW_STATE;
        for (const [index, { ok, quiet }] of row.entries())
          state = observe(state, RULES, { ok, quiet, at: index * MINUTE }).state;
        expect(JSON.stringify(state).length).toBeLessThan(800);
      }),
    );
  });
});
