/** What goes on without a person: the passes of a resource manager, and probes. Their processes die, and nothing is done twice. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";

import { isHoldpointError } from "../../../src/contracts/errors.ts";
import type { ResourceDetail } from "../../../src/contracts/protocol/resource-operations.ts";
import { HANG_MS } from "../../harness/index.ts";
import type { Stage } from "../stage.ts";
import {
  answerCheckpoint,
  checkpointOf,
  openGate,
  STUDIED,
  STUDY,
  untilAtGate,
  untilEnded,
  type Scenario,
} from "./scenario.ts";

const MANAGER = fileURLToPath(new URL("../managers/tended.resource-manager.ts", import.meta.url));
const LOOK_MS = 50;

type Ref = Pick<ResourceDetail, "projectPath"> & { readonly manager: string; readonly key: string };

/** Applies again while the process that loads the manager dies, as somebody does who reads that nothing was changed. */
async function applied(
  stage: Stage,
  ref: Ref,
  spec: ResourceDetail["resource"]["spec"],
  path: string | null,
): Promise<void> {
  for (;;) {
    const before = stage.reached.length;
    try {
      await stage.call("resourceManager.apply", { ...ref, spec, path, expectedVersion: null });
      return;
    } catch (error) {
      if (!isHoldpointError(error) || error.kind !== "managerLoad" || stage.reached.length === before) throw error;
    }
  }
}

/**
 * Looks at the resource until the test gives something; null is a resource that is gone. Its pass comes again by itself; only when several
 * have died one after another somebody asks for it, since waiting longer and longer would show nothing.
 */
async function untilManaged<T>(
  stage: Stage,
  ref: Ref,
  what: string,
  test: (detail: ResourceDetail | null) => T | false,
): Promise<T> {
  let detail: ResourceDetail | null = null;
  for (const deadline = Date.now() + HANG_MS; Date.now() < deadline; await sleep(LOOK_MS)) {
    try {
      detail = await stage.call("resourceManager.get", ref);
    } catch (error) {
      if (!isHoldpointError(error) || error.kind !== "resourceNotFound") throw error;
      detail = null;
    }
    const found = test(detail);
    if (found !== false) return found;
    const waits = detail?.queue;
    if (waits && !waits.reconciling && waits.failures > 2) await stage.call("resourceManager.reconcile", ref);
  }
  throw new Error(`stuck: ${what} did not come: ${JSON.stringify(detail)}`);
}

const phaseOf = (detail: ResourceDetail | null): unknown =>
  (detail?.resource.status.resourceManagerStatus as { phase?: unknown } | undefined)?.phase;

/** One resource from its spec to its deletion. */
const tended: Scenario = {
  async play(stage) {
    await stage.start();
    const folder = stage.folder("tended");
    const ref = { projectPath: folder, manager: "tended", key: "shop" };
    await applied(stage, ref, { folder, next: stage.folder("superseded"), workflow: STUDY }, MANAGER);
    const run = await untilManaged(stage, ref, "its run", (detail) => detail?.children[0]?.runId ?? false);
    stage.runIds.push(run);
    await answerCheckpoint(stage, run);
    await untilAtGate(stage, "tended");
    await untilManaged(stage, ref, "the tuning", (detail) => phaseOf(detail) === "tuned");
    openGate(stage, "tended");
    await untilEnded(stage, run);
    const done = await untilManaged(
      stage,
      ref,
      "the end",
      (detail) => phaseOf(detail) === "done" && detail?.queue === null && detail,
    );
    if (done.children.length !== 2) stage.problems.push(`${done.children.length} runs were asked for`);
    const superseded = done.children.find(({ runId }) => runId !== run)?.runId ?? "none";
    stage.runIds.push(superseded);
    await checkpointOf(stage, superseded);
    const effects = done.effects.map(({ kind, state }) => `${kind} ${state}`).join(", ");
    if (effects !== "roll-out applied") stage.problems.push(`the effects are: ${effects}`);
    const rolled = readFileSync(join(folder, "rolled-out"), "utf8");
    if (rolled !== "rolled out\n") stage.problems.push(`it was rolled out as ${JSON.stringify(rolled)}`);
    await stage.call("resourceManager.delete", ref);
    await untilManaged(stage, ref, "the deletion", (detail) => detail === null);
    const { followUps, outputs } = await stage.call("run.get", { run });
    const states = followUps.map(({ status }) => status).join(" ");
    // Without a session nobody would take the first one.
    if (states !== "cancelled removed") stage.problems.push(`the follow-ups are ${states}`);
    if (JSON.stringify(outputs["more"]) !== '{"rounds":"2"}')
      stage.problems.push(`the route was made with ${JSON.stringify(outputs["more"])}`);
    return new Map([
      [run, STUDIED],
      [superseded, { ...STUDIED, status: "cancelled" }],
    ]);
  },
};

/** So many checks at most until every point was met. */
const CHECKS = 30;

/** A command that is run to look at something, every time by a group that is known. */
const probed: Scenario = {
  async play(stage) {
    await stage.start();
    const projectPath = stage.folder("probed");
    const looked = join(projectPath, "looked");
    const probe = { type: "command", command: "/bin/sh", args: ["-c", `echo looked >> '${looked}'`] };
    const ref = { projectPath, manager: "monitor", key: "disk" };
    await applied(stage, ref, { everySeconds: 3_600, probe, audience: "operators" }, null);
    await untilManaged(stage, ref, "the monitor", (detail) => detail?.queue === null);
    const { monitors } = await stage.call("monitor.list", { after: "" });
    const monitor = monitors.find(({ origin }) => origin === "resource");
    if (monitor === undefined) throw new Error("there is no monitor");
    let good = 0;
    for (let checks = 0; good < 2 || stage.ahead.some((fault) => !fault.includes(":stop")); checks += 1) {
      if (checks === CHECKS) break;
      const { finding, ok } = await stage.call("monitor.check", { monitor: monitor.name });
      good = ok ? good + 1 : 0;
      if (!ok && finding.code !== "notProbed") stage.problems.push(`the probe saw ${finding.code}`);
    }
    if (good < 2) stage.problems.push("the last checks did not find what is there");
    const { standing } = await stage.call("monitor.get", { monitor: monitor.name });
    if (standing !== "up") stage.problems.push(`the monitor is ${standing}`);
    const lines = existsSync(looked) ? readFileSync(looked, "utf8").trim().split("\n").length : 0;
    const known = commandsOf(stage.home.database);
    if (lines > known) stage.problems.push(`${lines} commands ran, ${known} were registered`);
    return new Map();
  },
};

function commandsOf(path: string): number {
  const db = new Database(path, { readonly: true });
  try {
    return db.prepare("SELECT count(*) FROM child_processes WHERE kind = 'command'").pluck().get() as number;
  } finally {
    db.close();
  }
}

export const tending = { tended, probed };
