/** Whether waiting runs can be continued, as the server finds out when another product is to run them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import type { RunView } from "../../../src/contracts/protocol/operations.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeEach(async () => void (world = await makeWorld()));
afterEach(() => world.close());

const events = ({ timeline }: RunView): string[] =>
  timeline.map(({ type }) => type).filter((type) => type.startsWith("run.sources"));

it("another product tries the files of every waiting run, says which cannot go on, and tries those again at each start", async () => {
  const flag = join(world.folder, "flag");
  writeFileSync(flag, "up");
  world.put(
    "guarded.workflow.ts",
    `import { readFileSync } from "node:fs"; import * as h from "holdpoint";
     if (readFileSync(${JSON.stringify(flag)}, "utf8") !== "up") throw new Error("the flag is down");
     export default h.defineWorkflow({ name: "guarded", startAt: "ask", nodes: { ask: h.checkpoint(), end: h.compute({ run: () => "done" }) }, edges: [{ from: "ask", to: "end" }] });`,
  );
  const runs = [await world.start("guarded"), await world.start("guarded")] as const;
  for (const run of runs) await world.until(run, (view) => view.run.status === "waiting");

  writeFileSync(flag, "down");
  await world.restart();
  expect(world.runners.flatMap(({ sent }) => sent).filter(({ type }) => type === "judge")).toEqual([]);
  await world.restart("0.1.0");
  for (const run of runs) {
    const told = await world.until(run, (view) => events(view).length > 0, "what stands in the way");
    expect(told.run).toMatchObject({ status: "waiting", reason: expect.stringContaining("the flag is down") });
    expect(told.nextStep).toMatch(/^Restore the files before anybody answers, or cancel/);
  }
  // Both share their files: one trial serves both.
  expect(world.runners.flatMap(({ sent }) => sent).filter(({ type }) => type === "judge")).toHaveLength(1);

  writeFileSync(flag, "up");
  await world.restart();
  for (const run of runs) {
    const back = await world.until(run, (view) => events(view).length > 1, "that it can go on again");
    expect(events(back)).toEqual(["run.sourcesGone", "run.sourcesBack"]);
    await world.call("checkpoint.answer", { request: run, answer: null });
    expect((await world.until(run, (view) => view.run.finishedAt !== null)).finalOutput).toBe("done");
  }
});
