// Updates: their form, the token bucket, the room in the projection; and the rules of follow-ups.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UPDATE } from "../../src/contracts/limits.ts";
import { parseUpdate } from "../../src/contracts/update.ts";
import {
  admit,
  admitUpdate,
  followUpId,
  fullBucket,
  judgeFollowUp,
  mayRemoveFollowUp,
  type FollowUp,
} from "../../src/workflow/rules/index.ts";

describe("the form of an update", () => {
  const refusal = (given: unknown): unknown => {
    try {
      return parseUpdate(given);
    } catch (error) {
      return (error as Error).message;
    }
  };
  it("names what is wrong, and the limit with the size seen", () => {
    expect(parseUpdate({ type: "note", key: "a/b", data: { n: 1 } })).toEqual({
      type: "note",
      key: "a/b",
      data: { n: 1 },
    });
    expect(refusal({ type: "Note", key: "a", data: {} })).toContain("at type");
    expect(refusal({ type: "note", key: "", data: {} })).toContain("at key");
    expect(refusal({ type: "note", key: "a", data: [] })).toContain("at data");
    expect(refusal({ type: "note", key: "a", data: {}, extra: 1 })).toContain("not valid");
    expect(refusal({ type: "note", key: "a", data: { text: "é".repeat(40_000) } })).toBe(
      "The data of an update has 80011 bytes; the limit is 65536.",
    );
    expect(refusal({ type: "progress", key: "a", data: { label: "x" } })).toContain("at data.");
  });
});

describe("the token bucket", () => {
  it("takes a hundred at once and then twenty a second", () => {
    let bucket = fullBucket(0);
    let admitted = 0;
    for (let now = 0; now < 10_000; now += 1) {
      for (let i = 0; i < 5; i++) {
        const taken = admit(bucket, now);
        bucket = taken.bucket;
        if (taken.admitted) admitted++;
        else if (i === 4) expect(taken.retryAfterMs).toBeGreaterThan(0);
      }
    }
    expect(admitted).toBeGreaterThanOrEqual(299);
    expect(admitted).toBeLessThanOrEqual(300);
  });

  it("never admits more than burst and rate allow, in any window, whatever the clock does", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -500, max: 2_000 }), { maxLength: 300 }), (steps) => {
        let bucket = fullBucket(0);
        let now = 0;
        let latest = 0;
        let admitted = 0;
        for (const step of steps) {
          now = Math.max(0, now + step);
          latest = Math.max(latest, now);
          const taken = admit(bucket, now);
          bucket = taken.bucket;
          if (taken.admitted) admitted++;
          expect(bucket.tokens).toBeGreaterThanOrEqual(0);
          expect(bucket.tokens).toBeLessThanOrEqual(UPDATE.burst);
        }
        expect(admitted).toBeLessThanOrEqual(UPDATE.burst + (latest * UPDATE.perSecond) / 1_000);
      }),
    );
  });

  it("a new key needs room in the projection, a known one does not", () => {
    expect(() => admitUpdate(fullBucket(0), 0, { items: 1_024, isCurrent: false })).toThrow("the limit is 1024");
    expect(admitUpdate(fullBucket(0), 0, { items: 1_024, isCurrent: true }).tokens).toBe(99);
    expect(() => admitUpdate({ tokens: 0, at: 0 }, 0, { items: 0, isCurrent: false })).toThrow("taken in 50 ms");
  });
});

describe("follow-ups", () => {
  const model = { kind: "session", sourceId: "s1" } as const;
  const followUp = (orderNumber: number, state: FollowUp["state"], source: FollowUp["source"] = model): FollowUp => ({
    followUpId: followUpId("run", source, String(orderNumber)),
    orderNumber,
    source,
    state,
  });

  it("the same request makes the same id, of 40 hex digits", () => {
    expect(followUpId("run", model, "k")).toMatch(/^follow-up-[0-9a-f]{40}$/);
    expect(followUpId("run", model, "k")).toBe(followUpId("run", { ...model }, "k"));
    expect(followUpId("run", { ...model, sourceId: "s2" }, "k")).not.toBe(followUpId("run", model, "k"));
  });

  it("are queued in order while the run lasts", () => {
    expect(judgeFollowUp("/not a command", { ended: false, followUps: [followUp(3, "removed")] })).toEqual({
      orderNumber: 4,
    });
    expect(() => judgeFollowUp("x", { ended: true, followUps: [] })).toThrow("has ended");
    expect(() => judgeFollowUp(" ", { ended: false, followUps: [] })).toThrow("needs a text");
  });

  it("a person removes any unsent one, a model only its own", () => {
    const other = { kind: "controller", sourceId: "c" } as const;
    expect(mayRemoveFollowUp(followUp(1, "queued"), model)).toBeUndefined();
    expect(mayRemoveFollowUp(followUp(1, "queued"), { kind: "human", sourceId: "p" })).toBeUndefined();
    expect(mayRemoveFollowUp(followUp(1, "queued", other), model)).toBe("somebody else queued it");
    expect(mayRemoveFollowUp(followUp(1, "sent"), { kind: "human", sourceId: "p" })).toBe("it is sent");
  });
});
