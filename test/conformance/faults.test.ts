/** Defects of systems like this one (docs/conformance.md) that no other test shows: each is tried on a server in this process. */
import Database from "better-sqlite3";
import { afterEach, beforeEach, expect, it } from "vitest";
import { toolShape } from "../../adapters/pi/bridge/tool.ts";
import type { FromRunner } from "../../src/contracts/protocol/runner.ts";
import { makeWorld, type World } from "../server/runs/world.ts";

let world: World;
beforeEach(async () => {
  world = await makeWorld({
    audiences: { ops: { destinations: ["telegram:main/-1001"], policy: { quorum: 1 }, assurance: "any" } },
  } as never);
});
afterEach(() => world.close());

const IMPORT = `import * as h from "holdpoint";\n`;
const CHAIN = `${IMPORT}export default h.defineWorkflow({ name: "chain", startAt: "a", nodes: {
  a: h.compute({ run: () => 1 }), b: h.compute({ run: () => 2 }) }, edges: [{ from: "a", to: "b" }] });`;

/** Does something once, at the first frame of this type that any runner sends; `false` keeps the frame from the server. */
function atFirst(type: FromRunner["type"], react: () => boolean): void {
  let done = false;
  world.onRunner = (runner) => {
    runner.filter = (frame) => {
      if (done || frame.type !== type) return true;
      done = true;
      return react();
    };
  };
}

it("L7: a pause that comes while a runner prepares is not lost", async () => {
  world.put("chain.workflow.ts", CHAIN);
  let paused: Promise<unknown> | undefined;
  atFirst("ready", () => {
    paused = world.call("run.pause", { run });
    return true;
  });
  const run = await world.start("chain");
  await world.until(run, (view) => view.run.status === "paused");
  await paused;
  expect((await world.view(run)).run.finishedAt).toBeNull();
  await world.call("run.resume", { run });
  expect((await world.until(run, (view) => view.run.status === "completed")).finalOutput).toBe(2);
});

it("L8: a runner that dies right after the run ended changes nothing of the end", async () => {
  world.put("chain.workflow.ts", CHAIN);
  atFirst("finish", () => {
    queueMicrotask(() => world.runners.at(-1)?.kill());
    return true;
  });
  const run = await world.start("chain");
  const done = await world.until(run, (view) => view.run.finishedAt !== null);
  await world.until(run, () => world.core.scheduler.active.length === 0);
  const types = (await world.view(run)).timeline.map(({ type }) => type);
  expect(done.run.status).toBe("completed");
  expect(types.filter((type) => ["run.requeued", "run.parked", "run.failed"].includes(type))).toEqual([]);
  expect(world.runners).toHaveLength(1);
});

it("L9: a cancellation between spawn and ready is the end; a death before the first durable write is not", async () => {
  world.put("chain.workflow.ts", CHAIN);
  let cancelled: Promise<unknown> | undefined;
  atFirst("ready", () => {
    cancelled = world.call("run.cancel", { run, reason: null });
    return false;
  });
  const run = await world.start("chain");
  await world.until(run, (view) => view.run.status === "cancelled");
  await cancelled;
  await world.until(run, () => world.core.scheduler.active.length === 0);

  atFirst("ready", () => {
    world.runners.at(-1)?.kill();
    return false;
  });
  const other = await world.start("chain");
  const done = await world.until(other, (view) => view.run.status === "completed");
  expect(done.run.steps).toBe(2);
  expect(world.runners).toHaveLength(3);
});

it("R2: a continuation that is interrupted before its first step does not stop at the question it has answered", async () => {
  world.put(
    "twice.workflow.ts",
    `${IMPORT}export default h.defineWorkflow({ name: "twice", startAt: "one", nodes: {
      one: h.checkpoint(), two: h.checkpoint(), end: h.compute({ run: ({ outputs }) => [outputs.one, outputs.two] }),
    }, edges: [{ from: "one", to: "two" }, { from: "two", to: "end" }] });`,
  );
  const run = await world.start("twice");
  await world.until(run, (view) => view.run.status === "waiting");
  atFirst("ready", () => {
    world.runners.at(-1)?.kill();
    return false;
  });
  await world.call("checkpoint.answer", { request: run, answer: "first" });
  const second = await world.until(run, ({ checkpoints }) => checkpoints.length === 2);
  expect(second.checkpoints.map(({ nodeId, status }) => [nodeId, status])).toEqual([
    ["one", "settled"],
    ["two", "pending"],
  ]);
  await world.crash();
  expect((await world.view(run)).run.status).toBe("waiting");
  await world.call("checkpoint.answer", { request: second.checkpoints[1]?.requestId ?? "", answer: "second" });
  const done = await world.until(run, (view) => view.run.status === "completed");
  expect(done.finalOutput).toEqual(["first", "second"]);
});

it("C4: a decision that a new server found waiting can be cancelled with its run", async () => {
  world.put(
    "ask.workflow.ts",
    `${IMPORT}export default h.defineWorkflow({ name: "ask", startAt: "ask", nodes: { ask: h.humanDecision({
      audience: "ops", choices: { yes: { label: "Yes" } },
      request: () => ({ title: "Go?", subject: {}, presentation: { summary: "Go?", blocks: [] } }) }) } });`,
  );
  const run = await world.start("ask");
  await world.until(run, (view) => view.run.status === "waiting");
  await world.crash();
  await world.call("run.cancel", { run, reason: null });
  const view = await world.view(run);
  expect(view.run.status).toBe("cancelled");
  expect(view.decisions).toMatchObject([
    { status: "cancelled", resolution: { outcome: "cancelled", provenance: "explicit_cancel" } },
  ]);
});

it("R9, D1: one run whose stored error is no record breaks neither the list nor its own view", async () => {
  world.put("bad.workflow.ts", CHAIN.replace("() => 1", "() => { throw new Error('no'); }"));
  world.put("chain.workflow.ts", CHAIN);
  const bad = await world.start("bad");
  await world.until(bad, (view) => view.run.status === "failed");
  const good = await world.start("chain");
  await world.until(good, (view) => view.run.status === "completed");
  const db = new Database(`${world.folder}/state.sqlite`);
  db.prepare("UPDATE runs SET error = ? WHERE run_id = ?").run(JSON.stringify("plain text"), bad);
  db.close();
  const { runs } = (await world.call("run.list", { limit: 9, before: null })).result;
  expect(runs.map(({ status }) => status)).toEqual(["completed", "failed"]);
  expect((await world.view(bad)).error?.message).toBe("plain text");
});

it("E4: the tool of an agent step has one object at its root, and no union anywhere", () => {
  const { parameters } = toolShape(["submit", "update"]);
  expect(parameters).toMatchObject({ type: "object", additionalProperties: false });
  const words = JSON.stringify(parameters);
  for (const union of ["anyOf", "oneOf", "allOf", "$ref"]) expect(words).not.toContain(`"${union}"`);
});
