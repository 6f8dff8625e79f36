/** Inputs of mounts that the server enters by itself: after an answer, at every place where the runner may die. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeWorld, type TestRunner, type World } from "./world.ts";

let world: World;
beforeEach(async () => void (world = await makeWorld()));
afterEach(() => world.close());

/** A checkpoint leads straight into a mount, in which another mount stands at the start; both map and parse their inputs. */
const WORKFLOW = `import * as h from "holdpoint";
  globalThis.made ??= [];
  const note = (what) => globalThis.made.push(what);
  const core = h.defineWorkflow({ name: "core", startAt: "work", exits: { done: { from: "work" } },
    input: (given) => { note("core"); if (given.n > 900) throw new Error("too much for the core"); return { ...given, parsed: true }; },
    nodes: { work: h.compute({ run: ({ input }) => ({ got: input }) }) } });
  const shell = h.defineWorkflow({ name: "shell", startAt: "core", exits: { done: { from: "after" } },
    input: (given) => { note("shell"); return { n: given.n, by: "shell" }; },
    includes: { core: h.includeWorkflow(core, { input: ({ input }) => ({ n: input.n + 1 }) }) },
    nodes: { after: h.compute({ run: (ctx) => ({ mine: ctx.input, inner: h.includedResult(ctx, "core").output }) }) },
    edges: [{ from: "core.done", to: "after" }] });
  export default h.defineWorkflow({ name: "outer", startAt: "ask", maxSteps: 40,
    nodes: {
      ask: h.checkpoint(),
      again: h.compute({ run: (ctx) => ({ rounds: (ctx.outputs.again?.rounds ?? 0) + 1, last: h.includedResult(ctx, "sub").output, more: ctx.outputs.ask.more === true }) }),
      end: h.compute({ run: ({ outputs }) => outputs.again }),
    },
    includes: { sub: h.includeWorkflow(shell, { input: ({ outputs }) => { note("map"); return { n: outputs.ask.n * 10 }; } }) },
    edges: [
      { from: "ask", to: "sub" },
      { from: "sub.done", to: "again" },
      { from: "again", switch: { on: "$.more", cases: { true: "ask", false: "end" } } },
    ] });`;

const made = (): string[] => (globalThis as unknown as { made: string[] }).made;

async function asking(): Promise<string> {
  world.put("outer.workflow.ts", WORKFLOW);
  (globalThis as unknown as { made: string[] }).made = [];
  const run = await world.start("outer");
  await world.until(run, (view) => view.run.status === "waiting");
  return run;
}

const result = (n: number): unknown => ({ mine: { n, by: "shell" }, inner: { got: { n: n + 1, parsed: true } } });

describe("a mount that an answer leads into", () => {
  it("gets its input from the answer, and so does the mount at its start; each is made once", async () => {
    const run = await asking();
    await world.call("checkpoint.answer", { request: run, answer: { n: 4 } });
    const done = await world.until(run, (view) => view.run.finishedAt !== null);
    expect(done.finalOutput).toEqual({ rounds: 1, last: result(40), more: false });
    expect(made()).toEqual(["map", "shell", "core"]);
  });

  it("gets the input of the new answer when it is entered again", async () => {
    const run = await asking();
    await world.call("checkpoint.answer", { request: run, answer: { n: 4, more: true } });
    const next = await world.until(run, (view) => view.checkpoints.length === 2 && view.run.status === "waiting");
    const request = next.checkpoints.find(({ status }) => status === "pending")?.requestId ?? "";
    await world.restart();
    await world.call("checkpoint.answer", { request, answer: { n: 7 } });
    const done = await world.until(run, (view) => view.run.finishedAt !== null);
    expect(done.finalOutput).toEqual({ rounds: 2, last: result(70), more: false });
    expect(made()).toEqual(["map", "shell", "core", "map", "shell", "core"]);
  });

  it.each([
    ["before its input is stored", "enter", false],
    ["after its input is stored", "enter", true],
    ["with its first step lost", "advance", false],
    ["after its first step", "advance", true],
  ] as const)(
    "is entered with the same input by the next runner when the first dies %s",
    async (_when, type, arrives) => {
      const run = await asking();
      let killed = 0;
      world.onRunner = (runner: TestRunner) => {
        world.onRunner = () => undefined;
        runner.filter = (frame) => {
          if (frame.type !== type || killed > 0) return true;
          killed += 1;
          if (arrives) {
            // The server has the frame before the process is gone.
            setImmediate(() => void world.store.idle().then(() => runner.kill()));
            return true;
          }
          runner.kill();
          return false;
        };
      };
      await world.restart();
      await world.call("checkpoint.answer", { request: run, answer: { n: 4 } });
      const done = await world.until(run, (view) => view.run.finishedAt !== null);
      expect(killed).toBe(1);
      expect(done.error).toBeNull();
      expect(done.finalOutput).toEqual({ rounds: 1, last: result(40), more: false });
      const entered = done.timeline
        .filter(({ type: event }) => event === "include.entered")
        .map(({ detail }) => detail);
      expect(entered).toEqual([
        { mount: "sub", workflow: "shell", invocation: 1 },
        { mount: "sub/core", workflow: "core", invocation: 1 },
      ]);
      // What was stored is not made again.
      const times = type === "enter" && !arrives ? 2 : 1;
      expect(made().filter((what) => what === "map")).toHaveLength(times);
    },
  );

  it("whose parser refuses fails its first node with the author's words, also after a restart", async () => {
    const run = await asking();
    await world.restart();
    await world.call("checkpoint.answer", { request: run, answer: { n: 99 } });
    const done = await world.until(run, (view) => view.run.finishedAt !== null);
    expect(done.run.status).toBe("failed");
    expect(done.error).toMatchObject({
      kind: "includeInput",
      message: expect.stringContaining("too much for the core"),
    });
  });
});
