/** Scenarios of running work: a checkpoint that a client answers, settings and follow-ups that it changes, a restart, an agent, a managed run. */
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";

import { isHoldpointError } from "../../../src/contracts/errors.ts";
import type { Stage } from "../stage.ts";
import { beside } from "./beside.ts";
import {
  AGENTS,
  answerCheckpoint,
  APPROVED,
  JOURNEY,
  openGate,
  runOf,
  STUDIED,
  STUDY,
  untilAtGate,
  untilEnded,
  type Scenario,
} from "./scenario.ts";

const MANAGE_CHILD = fileURLToPath(new URL("../children/manage.ts", import.meta.url));

/** Answered, tuned while it works, and told what comes after it. */
const study: Scenario = {
  async play(stage) {
    await stage.start();
    const run = await stage.run(STUDY, "study");
    await stage.call("followUp.queue", { run, prompt: "Sum it up." });
    await stage.call("followUp.queue", { run, prompt: "Never mind." });
    await stage.call("followUp.remove", { run, followUp: "2" });
    await answerCheckpoint(stage, run);
    await untilAtGate(stage, "study");
    await stage.until("a run at work", (world) => runOf(world, run).run.status === "running");
    await changeRounds(stage, run);
    openGate(stage, "study");
    await untilEnded(stage, run);
    const ended = await stage.call("run.get", { run });
    const states = ended.followUps.map(({ status }) => status).join(" ");
    // Without a session nobody would take the first one.
    if (states !== "cancelled removed") stage.problems.push(`the follow-ups are ${states}`);
    if (ended.outputs["more"] === undefined || JSON.stringify(ended.outputs["more"]) !== '{"rounds":"2"}')
      stage.problems.push(`the route was made with ${JSON.stringify(ended.outputs["more"])}`);
    return new Map([[run, STUDIED]]);
  },
};

/** Changes a setting, again where the process that judged it was struck, as the refusal says. */
async function changeRounds(stage: Stage, run: string): Promise<void> {
  const patch = [{ op: "replace", path: "/rounds", value: 2 }];
  for (let struck = stage.reached.length; ; struck = stage.reached.length) {
    try {
      await stage.call("run.changeSettings", { run, mount: "", patch, expectedChangeNumber: 0 });
      return;
    } catch (error) {
      const died = isHoldpointError(error) && error.remedy.includes("make the change again");
      if (!died || stage.reached.length === struck) throw error;
    }
  }
}

/** Once more from the beginning, as a run of its own. */
const again: Scenario = {
  async play(stage) {
    await stage.start();
    const run = await stage.run(STUDY, "again");
    openGate(stage, "again");
    await answerCheckpoint(stage, run);
    await untilEnded(stage, run);
    const { runId } = await stage.call("run.restart", { run, reason: null });
    stage.runIds.push(runId);
    await answerCheckpoint(stage, runId);
    await untilEnded(stage, runId);
    return new Map([
      [run, STUDIED],
      [runId, STUDIED],
    ]);
  },
};

/** An agent works in a child of its runner's. */
const agents: Scenario = {
  options: { pi: true },
  async play(stage) {
    await stage.start();
    const run = await stage.run(AGENTS, "agents");
    await untilEnded(stage, run);
    const { outputs } = await stage.call("run.get", { run });
    if (JSON.stringify(outputs["plan"]) !== '{"plan":"do it"}')
      stage.problems.push(`the agent's output is ${JSON.stringify(outputs["plan"])}`);
    return new Map([[run, { status: "completed", decisions: [], actions: ["note"] }]]);
  },
};

/**
 * A resource manager asks for a run, and what became of it is written down by a command of its own. No manager exists yet, so a process of
 * the test asks, while the server is away.
 */
const managed: Scenario = {
  async play(stage) {
    await stage.start({ fault: false });
    await stage.stop();
    const run = await beside(stage, MANAGE_CHILD, [JOURNEY, stage.folder("managed")]);
    stage.runIds.push(run);
    await stage.start();
    await untilEnded(stage, run);
    await stage.until("the end of the request", () => requestOf(stage.home.database, run) === "succeeded");
    return new Map([[run, APPROVED]]);
  },
};

function requestOf(path: string, run: string): unknown {
  const db = new Database(path, { readonly: true });
  try {
    const sql = "SELECT m.status FROM managed_resource_workflows m JOIN runs USING (run_no) WHERE run_id = ?";
    return db.prepare(sql).pluck().get(run);
  } finally {
    db.close();
  }
}

export const work = { study, again, agents, managed };
