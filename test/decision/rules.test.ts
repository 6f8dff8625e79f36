// Who may answer, how votes are counted, when the timeout may decide.

import { describe, expect, test } from "vitest";

import type { DecisionVote } from "../../src/contracts/decision/index.ts";
import { DECISION } from "../../src/contracts/limits.ts";
import {
  inGrace,
  isPast,
  judgeActor,
  mayTimeOut,
  outageWindow,
  personOf,
  tally,
  timeoutOutcome,
  withVote,
  type Actor,
  type Person,
} from "../../src/decision/index.ts";

const people: Person[] = [
  { id: "ann", name: "Ann", accounts: { "telegram:ops": ["1"], pi: ["uid:1000"] } },
  { id: "bea", name: "Bea", accounts: { telegram: ["2"] } },
];
const on = (channel: string, actorId: string, assurance: Actor["assurance"] = "remote"): Actor => ({
  channel,
  actorId,
  assurance,
});

describe("who may answer", () => {
  test("an account is found under its channel with profile, or under the kind for every profile", () => {
    expect(personOf(people, on("telegram:ops", "1"))?.id).toBe("ann");
    expect(personOf(people, on("telegram:home", "1"))).toBeUndefined();
    expect(personOf(people, on("telegram:home", "2"))?.id).toBe("bea");
    expect(personOf(people, on("constructor", "1"))).toBeUndefined();
  });

  test("a person of the audience may, another person and an unknown account may not", () => {
    const ask = (actor: Actor) => judgeActor({ actor, people, audience: { people: ["ann"] }, quorum: 1 });
    expect(ask(on("telegram:ops", "1"))).toEqual({ allowed: true, personId: "ann", name: "Ann", mapped: true });
    expect(ask(on("telegram:ops", "2"))).toEqual({ allowed: false, reason: "notOnList" });
    expect(ask(on("telegram:ops", "3"))).toEqual({ allowed: false, reason: "notOnList" });
  });

  test("the channel's allow-list and the audience must both agree", () => {
    const ask = (actorId: string, allowed: string[]) =>
      judgeActor({
        actor: on("telegram:ops", actorId),
        people,
        audience: { people: ["ann", "bea"], allowedActorIds: allowed },
        quorum: 1,
      }).allowed;
    expect(ask("1", ["1"])).toBe(true);
    expect(ask("2", ["1"])).toBe(false);
    expect(ask("9", ["9"])).toBe(false);
  });

  test("without any list nobody may", () => {
    expect(judgeActor({ actor: on("telegram:ops", "1"), people, audience: {}, quorum: 1 })).toEqual({
      allowed: false,
      reason: "notOnList",
    });
  });

  test("an allowed account of no person counts where one answer is enough, and only there", () => {
    const audience = { allowedActorIds: ["7"] };
    const actor: Actor = { ...on("telegram:ops", "7"), displayName: "Cem" };
    expect(judgeActor({ actor, people, audience, quorum: 1 })).toEqual({
      allowed: true,
      personId: "telegram:ops:7",
      name: "Cem",
      mapped: false,
    });
    expect(judgeActor({ actor, people, audience, quorum: 2 })).toEqual({ allowed: false, reason: "accountUnmapped" });
  });

  test("an audience that wants remote answers refuses this machine's user", () => {
    const ask = (assurance: "remote" | undefined) =>
      judgeActor({ actor: on("pi", "uid:1000", "local"), people, audience: { people: ["ann"], assurance }, quorum: 1 });
    expect(ask(undefined).allowed).toBe(true);
    expect(ask("remote")).toEqual({ allowed: false, reason: "remoteOnly" });
  });
});

describe("counting", () => {
  const vote = (personId: string, choice: string, votedAt: number): DecisionVote => ({ personId, choice, votedAt });

  test("nothing is decided without votes", () => {
    expect(tally({ quorum: 1 }, [])).toEqual({ decided: false, choice: undefined, have: 0, need: 1 });
  });

  test("a later vote of a person replaces the earlier", () => {
    const votes = withVote([vote("ann", "approve", 1), vote("bea", "approve", 2)], vote("ann", "stop", 3));
    expect(votes).toHaveLength(2);
    expect(tally({ quorum: 2 }, votes)).toEqual({ decided: false, choice: "approve", have: 1, need: 2 });
  });

  test("rows that hold two votes of one person count the later one", () => {
    expect(tally({ quorum: 2 }, [vote("ann", "approve", 2), vote("ann", "approve", 1)]).decided).toBe(false);
  });

  test("n persons must agree on one choice, and the order of rows does not matter", () => {
    const votes = [vote("a", "x", 1), vote("b", "y", 2), vote("c", "x", 3), vote("d", "x", 4)];
    for (const rows of [votes, [...votes].reverse()]) {
      expect(tally({ quorum: 3 }, rows)).toEqual({ decided: true, vote: votes[3] });
      expect(tally({ quorum: 4 }, rows)).toEqual({ decided: false, choice: "x", have: 3, need: 4 });
    }
  });

  test("one veto is enough", () => {
    const votes = [vote("a", "x", 1), vote("b", "no", 2)];
    expect(tally({ quorum: 3, veto: ["no"] }, votes)).toEqual({ decided: true, vote: votes[1] });
  });
});

describe("the deadline by the server's clock", () => {
  const request = { expiresAt: 1_000 };

  test("`deadline <= now` is past, and then the policy may decide", () => {
    expect([isPast(request, 999), isPast(request, 1_000)]).toEqual([false, true]);
    expect([mayTimeOut(request, 999), mayTimeOut(request, 1_000)]).toEqual([false, true]);
    expect(mayTimeOut({}, Number.MAX_SAFE_INTEGER)).toBe(false);
  });

  test("after an outage over the deadline the policy waits for the window, at most 30 s", () => {
    const outage = outageWindow(500, 2_000);
    expect(outage.until).toBe(2_000 + DECISION.graceMs);
    expect([mayTimeOut(request, 2_000, outage), mayTimeOut(request, outage.until, outage)]).toEqual([false, true]);
  });

  test("at every instant either an answer or the policy is possible, never both", () => {
    const outage = outageWindow(500, 2_000);
    for (const now of [0, 499, 999, 1_000, 1_001, 2_000, 31_999, 32_000, 99_999]) {
      for (const window of [undefined, outage]) {
        const answer = !isPast(request, now) || inGrace(request, now, window);
        expect(answer).toBe(!mayTimeOut(request, now, window));
      }
    }
  });

  test("the policy uses the default, or expires the decision", () => {
    expect(timeoutOutcome({ defaultResponse: { choice: "stop" } })).toEqual({
      provenance: "timeout_policy",
      choice: "stop",
    });
    expect(timeoutOutcome({ defaultResponse: { choice: "replan", input: "x" } })).toMatchObject({ input: "x" });
    expect(timeoutOutcome({})).toEqual({ provenance: "expired_no_default", choice: null });
  });
});
