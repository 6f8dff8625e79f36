/**
 * The rules of alerts over random reports, people and time: each opening has its end, nothing is told too often, and time alone always comes to
 * rest. The oracle knows only what was reported last and which messages a chat would have got.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";

import {
  acknowledged,
  due,
  isLive,
  nextAt,
  progressEvery,
  raised,
  recovered,
  snoozed,
  type AlertState,
  type Said,
} from "../../src/alert/index.ts";
import type { Severity } from "../../src/contracts/alert.ts";
import { ALERT } from "../../src/contracts/limits.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

type Op =
  | { readonly op: "raise"; readonly fingerprint: string; readonly severity: Severity }
  | { readonly op: "recover" | "acknowledge" }
  | { readonly op: "snooze" | "pass"; readonly ms: number };

const op: fc.Arbitrary<Op> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      op: fc.constant("raise" as const),
      fingerprint: fc.constantFrom("a", "b"),
      severity: fc.constantFrom<Severity>("info", "warning", "critical"),
    }),
  },
  { weight: 4, arbitrary: fc.constant({ op: "recover" as const }) },
  { weight: 1, arbitrary: fc.constant({ op: "acknowledge" as const }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("snooze" as const), ms: fc.constantFrom(MINUTE, HOUR) }) },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant("pass" as const),
      ms: fc.constantFrom(0, 1, 10_000, MINUTE, 5 * MINUTE, ALERT.flapWindowMs, HOUR, 26 * HOUR),
    }),
  },
);
const script = fc.array(op, { minLength: 1, maxLength: 60 });

interface Told {
  readonly said: Said;
  readonly at: number;
  readonly episode: number;
}

class Teller {
  now = 1_000_000;
  state: AlertState | undefined;
  readonly told: Told[] = [];
  /** What was reported last. */
  holds = false;
  /** Reports that were repeated at once must change nothing that is told. */
  readonly repeats: boolean;

  constructor(repeats: boolean) {
    this.repeats = repeats;
  }

  apply(given: Op): void {
    switch (given.op) {
      case "raise":
        this.#raise(given.fingerprint, given.severity);
        if (this.repeats) expect(this.#raise(given.fingerprint, given.severity)).toBe("same");
        this.holds = true;
        return;
      case "recover":
        this.#recover();
        if (this.repeats) expect(this.#recover()).toBe("nothing");
        this.holds = false;
        return;
      case "acknowledge":
        if (this.state !== undefined && isLive(this.state)) this.state = acknowledged(this.state);
        return;
      case "snooze":
        if (this.state !== undefined && isLive(this.state)) this.state = snoozed(this.state, this.now + given.ms);
        return;
      case "pass":
        this.#pass(given.ms);
    }
  }

  #raise(fingerprint: string, severity: Severity): Said {
    const remind = { afterMs: HOUR, everyMs: HOUR, atMost: 3 };
    const step = raised(this.state, { fingerprint, severity, remind, watched: true }, this.now);
    return this.#take(step.state, step.said);
  }

  #recover(): Said {
    const step = recovered(this.state, this.now);
    return this.#take(step.state, step.said);
  }

  /** Time goes from due moment to due moment, as a timer that only wakes lets it. */
  #pass(ms: number): void {
    const end = this.now + ms;
    for (let steps = 0; ; steps += 1) {
      expect(steps).toBeLessThan(1_000);
      const at = this.state === undefined ? null : nextAt(this.state);
      if (this.state === undefined || at === null || at > end) break;
      this.now = Math.max(this.now, at);
      const step = due(this.state, this.now);
      // What says that something is due has something due, else a timer would turn for ever.
      expect(step.said).not.toBe("nothing");
      this.#take(step.state, step.said);
    }
    this.now = end;
  }

  #take(state: AlertState | undefined, said: Said): Said {
    this.state = state;
    this.told.push({ said, at: this.now, episode: state?.episode ?? 0 });
    return said;
  }

  of(...kinds: Said[]): Told[] {
    return this.told.filter(({ said }) => kinds.includes(said));
  }
}

function play(ops: readonly Op[], repeats: boolean): Teller {
  const teller = new Teller(repeats);
  for (const given of ops) teller.apply(given);
  return teller;
}

describe("an alert under any order of reports, people and time", () => {
  it("opens each episode once, ends it at most once, and in the end tells what is", () => {
    fc.assert(
      fc.property(script, (ops) => {
        const teller = play(ops, false);
        teller.apply({ op: "pass", ms: 48 * HOUR });
        const { state } = teller;
        if (state === undefined) return;
        expect(state.open).toBe(teller.holds);
        expect(state.flapping).toBe(false);
        expect(state.snoozedUntil).toBeNull();
        for (let episode = 1; episode <= state.episode; episode += 1) {
          const mine = teller.told.filter((told) => told.episode === episode);
          const first = mine.find(({ said }) => said !== "nothing" && said !== "quiet");
          expect(["opened", "unstable"]).toContain(first?.said);
          const ends = mine.filter(({ said }) => said === "recovered" || said === "settled");
          expect(ends).toHaveLength(episode < state.episode || !state.open ? 1 : 0);
          expect(mine.filter(({ said }) => said === "opened").length).toBeLessThanOrEqual(1);
        }
      }),
      { numRuns: 400 },
    );
  });

  it("makes few new messages in any ten minutes, and names unrest once", () => {
    fc.assert(
      fc.property(script, (ops) => {
        const teller = play(ops, false);
        const posts = teller.of("opened", "changed", "unstable", "recovered", "settled", "steady");
        for (const { at } of posts) {
          const near = posts.filter((post) => post.at >= at && post.at < at + ALERT.flapWindowMs);
          expect(near.length).toBeLessThanOrEqual(5);
        }
        const named = teller.of("unstable", "settled", "steady").map(({ said }) => said);
        for (const [index, said] of named.entries())
          if (said === "unstable" && index > 0) expect(named[index - 1]).not.toBe("unstable");
      }),
      { numRuns: 400 },
    );
  });

  it("takes a report that is repeated at once for the same thing", () => {
    fc.assert(
      fc.property(script, (ops) => {
        const once = play(ops, false);
        const twice = play(ops, true);
        const news = (teller: Teller): Said[] =>
          teller.told.map(({ said }) => said).filter((said) => said !== "same" && said !== "nothing");
        expect(news(twice)).toEqual(news(once));
      }),
      { numRuns: 200 },
    );
  });

  it("reminds only of what holds, that nobody has taken, and at most as often as was asked", () => {
    fc.assert(
      fc.property(script, (ops) => {
        const teller = new Teller(false);
        for (const given of ops) {
          const before = teller.of("reminded").length;
          const taken = teller.state?.acknowledged === true || teller.state?.open !== true;
          teller.apply(given);
          if (taken && given.op === "pass") expect(teller.of("reminded")).toHaveLength(before);
          expect(teller.state?.reminders ?? 0).toBeLessThanOrEqual(3);
        }
      }),
      { numRuns: 200 },
    );
  });
});

describe("edits that only tell that it lasts", () => {
  it("are few however long it lasts", () => {
    let [at, edits] = [0, 0];
    while (at < 30 * 24 * HOUR) {
      at += progressEvery(at);
      edits += 1;
    }
    expect(edits).toBeLessThan(160);
    expect(edits).toBeGreaterThan(20);
  });
});
