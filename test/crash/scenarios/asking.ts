/** Scenarios about one question: approved, replanned with text, timed out, in parts, pressed by a stranger, answered elsewhere. */
import { join } from "node:path";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

import { childEnv, HANG_MS } from "../../harness/index.ts";
import type { Ending } from "../invariants.ts";
import type { Stage } from "../stage.ts";
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
    if (Object.keys(stage.point.env).length > 0 && (await answerBeside(stage, decision, true)) === "killed")
      stage.hit = true;
    await answerBeside(stage, decision, false);
    await stage.start({ fault: false });
    await untilEnded(stage, runId);
    return new Map([[runId, APPROVED]]);
  },
};

async function answerBeside(stage: Stage, decision: string, fault: boolean): Promise<"answered" | "killed"> {
  const child = spawn(
    process.execPath,
    ["--import", "jiti/register", ANSWER_CHILD, join(stage.home.dir, "state.sqlite"), decision],
    {
      stdio: ["ignore", "ignore", "pipe"],
      env: childEnv(fault ? stage.point.env : {}),
    },
  );
  let stderr = "";
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const guard = setTimeout(() => child.kill("SIGTERM"), HANG_MS);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once("exit", (...exit) => resolve(exit));
  });
  clearTimeout(guard);
  if (code === 0) return "answered";
  if (fault && signal === "SIGKILL") return "killed";
  throw new Error(`the process that answers ended with ${signal ?? code}: ${stderr}`);
}

export const asking = { approve, replan, echo, timeout, parts, stranger, host };
