/** Scenarios in which something refuses: the file, the database, the runner's own process. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

import { logsOf } from "../../harness/index.ts";
import { APPROVED, BROKEN, JOURNEY, openGate, untilAsked, untilAtGate, untilEnded, type Scenario } from "./scenario.ts";

/** The workflow cannot be loaded. Its runner ends by itself; when its last word is lost, nothing speaks for launching it again. */
const broken: Scenario = {
  needsResume: true,
  async play(stage) {
    await stage.start();
    const run = await stage.run(BROKEN, "broken");
    await untilEnded(stage, run);
    return new Map([[run, { status: "failed", decisions: [], actions: [] }]]);
  },
};

/** The approved file cannot be loaded any more as it was when the question was asked; the operator mends that and resumes. */
const changed: Scenario = {
  needsResume: true,
  async play(stage) {
    stage.person.awake = false;
    const path = join(stage.folder("project"), "journey.workflow.ts");
    // It reads a file while it loads, which is no part of what was approved.
    const flag = join(stage.folder("project"), "flag");
    const guard =
      'import { readFileSync as readFlag } from "node:fs";\n' +
      'if (readFlag(new URL("./flag", import.meta.url), "utf8") !== "up") throw new Error("the flag is down");\n';
    writeFileSync(path, `${guard}${readFileSync(JOURNEY, "utf8")}`);
    const restore = (): void => writeFileSync(flag, "up");
    restore();
    stage.operator.beforeResume = restore;
    await stage.start();
    const run = await stage.run(path, "changed");
    await untilAsked(stage, run);
    writeFileSync(flag, "down");
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
