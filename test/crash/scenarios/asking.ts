/** Scenarios about one question: approved, replanned with text, timed out, in parts, pressed by a stranger, answered elsewhere. */
import { fileURLToPath } from "node:url";

import type { Ending } from "../invariants.ts";
import type { Stage } from "../stage.ts";
import { beside } from "./beside.ts";
import { APPROVED, JOURNEY, runOf, untilAsked, untilEnded, type Scenario } from "./scenario.ts";

const ANSWER_CHILD = fileURLToPath(new URL("../children/answer.ts", import.meta.url));
const HOUR_MS = 3_600_000;

/** Run, card, tap, end. */
const approve: Scenario = {
  async play(stage) {
    await stage.start();
    const runId = await stage.run(JOURNEY, "approve");
    await untilEnded(stage, runId);
    return new Map([[runId, APPROVED]]);
  },
};

/** A choice that asks for text, and the same question once more. */
const replan: Scenario = { play: (stage) => replanned(stage, "replan") };

/** The same, with every update handed over twice. */
const echo: Scenario = {
  play(stage) {
    stage.person.echo = true;
    return replanned(stage, "echo");
  },
};

async function replanned(stage: Stage, title: string): Promise<ReadonlyMap<string, Ending>> {
  stage.person.answers = [{ label: "Replan…", text: "use the blue pool" }, { label: "Approve" }];
  await stage.start();
  const runId = await stage.run(JOURNEY, title);
  await untilEnded(stage, runId);
  const decisions = ["replan human", "approve human"];
  return new Map([[runId, { ...APPROVED, decisions, texts: ["use the blue pool", null] }]]);
}

/** Nobody answers. */
const timeout: Scenario = {
  options: { clock: true },
  async play(stage) {
    stage.person.awake = false;
    await stage.start();
    const runId = await stage.run(JOURNEY, "timeout", { timeout: true });
    await untilAsked(stage, runId);
    for (let decided = false; !decided;) {
      await stage.advance(HOUR_MS + 1);
      decided = await stage
        .until("a look", (world) => ({
          decided: runOf(world, runId).decisions.every(({ status }) => status !== "pending"),
        }))
        .then((look) => look.decided);
    }
    await untilEnded(stage, runId);
    return new Map([[runId, { ...APPROVED, decisions: ["approve timeout_policy"] }]]);
  },
};

/** Two must agree. Ann votes; Bea is asked only when the decision is passed on to her. */
const policy: Scenario = {
  options: {
    clock: true,
    policy: {
      quorum: 2,
      veto: ["replan", "stop"],
      remindAfter: { minutes: 10, atMost: 2 },
      escalateAfter: { minutes: 30, audience: "on-call" },
    },
  },
  async play(stage) {
    await stage.start();
    const runId = await stage.run(JOURNEY, "policy");
    await stage.until("the vote of Ann", (world) => runOf(world, runId).decisions[0]?.policy.votes.length === 1);
    // Whoever has voted is judged again.
    await stage.call("server.reload", {});
    for (let passedOn = false; !passedOn;) {
      await stage.advance(10 * 60_000);
      passedOn = await stage
        .until("a look", (world) => ({ at: runOf(world, runId).decisions[0]?.policy.escalation?.at }))
        .then(({ at }) => typeof at === "number");
    }
    await untilEnded(stage, runId);
    return new Map([[runId, APPROVED]]);
  },
};

/** Two parts to two people; only one of them answers. */
const parts: Scenario = {
  options: { destinations: ["telegram:default/1001", "telegram:default/1002"] },
  async play(stage) {
    await stage.start();
    const runId = await stage.run(JOURNEY, "parts", { long: true });
    await untilEnded(stage, runId);
    return new Map([[runId, APPROVED]]);
  },
};

/** A stranger in the group presses first, in vain. */
const stranger: Scenario = {
  options: { group: true },
  async play(stage) {
    stage.person.answers = [{ label: "Approve", strangers: [6_666] }];
    await stage.start();
    const runId = await stage.run(JOURNEY, "stranger");
    await untilEnded(stage, runId);
    return new Map([[runId, APPROVED]]);
  },
};

/**
 * The answer comes through the store's own command and not through a channel. No client of this version gives it, so a process
 * of the test does, while the server is away; the fault strikes that process.
 */
const host: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    await stage.start({ fault: false });
    const runId = await stage.run(JOURNEY, "host");
    await untilAsked(stage, runId);
    const decision = await stage.until("the delivery", (world) => {
      const sent = world.effects.find(({ purpose }) => purpose === "delivery");
      return sent?.status === "applied" ? runOf(world, runId).decisions[0]?.decisionId : undefined;
    });
    await stage.stop();
    await beside(stage, ANSWER_CHILD, [decision]);
    await stage.start({ fault: false });
    await untilEnded(stage, runId);
    return new Map([[runId, APPROVED]]);
  },
};

export const asking = { approve, replan, echo, timeout, policy, parts, stranger, host };
