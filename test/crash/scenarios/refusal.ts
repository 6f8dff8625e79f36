/** Scenarios in which something refuses: the file, the database, the runner's own process. */
import { appendFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

import { logsOf } from "../../harness/index.ts";
import { APPROVED, BROKEN, JOURNEY, openGate, untilAsked, untilAtGate, untilEnded, type Scenario } from "./scenario.ts";

/** The workflow cannot be loaded. */
const broken: Scenario = {
  async play(stage) {
    await stage.start();
    const run = await stage.run(BROKEN, "broken");
    await untilEnded(stage, run);
    return new Map([[run, { status: "failed", decisions: [], actions: [] }]]);
  },
};

/** The file changes while the question waits; the operator restores it and resumes. */
const changed: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    const path = join(stage.folder("project"), "journey.workflow.ts");
    const restore = (): void => copyFileSync(JOURNEY, path);
    restore();
    stage.operator.beforeResume = restore;
    await stage.start();
    const run = await stage.run(path, "changed");
    await untilAsked(stage, run);
    appendFileSync(path, "// changed\n");
    stage.person.awake = true;
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

/** The runner dies between two steps, after progress. */
const crash: Scenario = {
  async play(stage) {
    await stage.start();
    const run = await stage.run(JOURNEY, "crash", { dies: { past: "before" } });
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

/** Another process holds the database longer than the server waits; the runner goes back to what is stored. */
const busy: Scenario = {
  async play(stage) {
    await stage.start();
    const run = await stage.run(JOURNEY, "busy", { gate: true });
    await untilAtGate(stage, "busy");
    const other = new Database(stage.home.database);
    try {
      other.exec("BEGIN IMMEDIATE");
      openGate(stage, "busy");
      await stage.moment("a refused write", () => logsOf(stage.home).includes("steps not written"));
      other.exec("ROLLBACK");
    } finally {
      other.close();
    }
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

export const refusal = { broken, changed, crash, busy };
