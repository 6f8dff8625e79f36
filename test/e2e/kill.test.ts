// The server is killed between a tap and what follows from it: the work goes on exactly once.

import { afterEach, expect, test } from "vitest";

import { Scope } from "../harness/index.ts";
import { Stage, linesOf } from "./stage.ts";

const scope = new Scope();
afterEach(() => scope.close());

test("killed from outside in the moment of the tap, it restarts and acts once", async () => {
  const stage = await Stage.open(scope);
  const asked = await stage.ask("Kill the server at any moment");
  await stage.ann.tap(asked.card, "Approve");
  await stage.killAndRestart();
  const view = await stage.finished(asked.run);
  expect(view.decisions[0]?.resolution).toMatchObject({ choice: "approve", by: "Ann" });
  expect(view.continuations).toBe(1);
  expect(new Set(linesOf(asked.file)).size).toBe(1);
  await stage.waitForText(asked.card, "Run completed");
  expect(await stage.leaks()).toEqual([]);
});

test.each([
  ["before the tap is stored", "channels.receive:before"],
  ["when the tap is stored and nothing else has happened", "channels.receive:after"],
  ["when the continuation has begun", "runs.ready:after:2"],
  ["when the action has been done and is not reported", "effects.report:before"],
])("killed %s, it restarts and acts once", async (_when, fault) => {
  const stage = await Stage.open(scope, { env: { HOLDPOINT_FAULT: fault } });
  const asked = await stage.ask("Kill the server");
  await stage.ann.tap(asked.card, "Approve");
  expect((await stage.server.exited).signal).toBe("SIGKILL");

  await stage.restart();
  const view = await stage.finished(asked.run);
  expect(view.run.status).toBe("completed");
  expect(view.decisions).toHaveLength(1);
  expect(view.decisions[0]?.resolution).toMatchObject({ choice: "approve", by: "Ann", provenance: "human" });
  expect(view.continuations).toBe(1);
  const action = view.effects.filter(({ purpose }) => purpose === "action");
  expect(action).toMatchObject([{ status: "applied" }]);
  expect(new Set(linesOf(asked.file)).size).toBe(1);
  // The one killed after the action repeats it under the same key, as its contract says; all others act once.
  if (!fault.startsWith("effects.report")) expect(linesOf(asked.file)).toHaveLength(1);
  await stage.waitForText(asked.card, "Run completed");
  expect(await stage.copies(asked.title)).toBe(1);
  expect(await stage.sends(asked.title)).toBe(1);
  expect(await stage.leaks()).toEqual([]);
});
