/** Scenarios in which something refuses: the file, the database, the runner's own process. */
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";

import type { RunView } from "../../../src/client/index.ts";
import { sha256Hex } from "../../../src/contracts/ids.ts";
import { logsOf } from "../../harness/index.ts";
import {
  APPROVED,
  BROKEN,
  JOURNEY,
  openGate,
  runOf,
  untilAsked,
  untilAtGate,
  untilEnded,
  type Scenario,
} from "./scenario.ts";

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

/** What was approved is nowhere any more while the question waits; it is put back before Ann answers. */
const lost: Scenario = {
  async play(stage) {
    stage.person.awake = false;
    const path = join(stage.folder("project"), "journey.workflow.ts");
    writeFileSync(path, readFileSync(JOURNEY));
    await stage.start({ fault: false });
    const run = await stage.run(path, "lost");
    await untilAsked(stage, run);
    await stage.stop();
    const hash = Buffer.from(sha256Hex(readFileSync(path)), "hex");
    const store = (content: Buffer): void => {
      const database = new Database(stage.home.database);
      database.prepare("UPDATE blobs SET content = ? WHERE blob_hash = ?").run(content, hash);
      database.close();
    };
    const content = readFileSync(path);
    store(Buffer.alloc(content.length));
    renameSync(path, `${path}.away`);
    await stage.start();
    await stage.until("that it cannot go on", (world) => toldOf(runOf(world, run), "run.sourcesGone"));
    if (await stage.stop()) await stage.start({ fault: false });
    store(content);
    if (await stage.stop()) await stage.start({ fault: false });
    await stage.until("that it can go on again", (world) => toldOf(runOf(world, run), "run.sourcesBack"));
    stage.person.awake = true;
    await untilEnded(stage, run);
    return new Map([[run, APPROVED]]);
  },
};

function toldOf({ timeline }: RunView, event: string): boolean {
  return timeline.some(({ type }) => type === event);
}

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

export const refusal = { broken, changed, lost, crash, busy };
