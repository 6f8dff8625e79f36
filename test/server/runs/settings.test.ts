/** Changes of settings through the whole server: the workflow's own functions judge each before it is stored. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { JsonValue } from "../../../src/contracts/protocol/shared.ts";
import { makeWorld, type World } from "./world.ts";

let world: World;
beforeEach(async () => void (world = await makeWorld()));
afterEach(() => world.close());

const WORKFLOW = (settings: string): string => `import * as h from "holdpoint";
  export default h.defineWorkflow({ name: "tuned", startAt: "hold", settings: h.workflowSettings({ ${settings} }),
    nodes: { hold: h.checkpoint(), end: h.compute({ run: ({ settings }) => settings }) }, edges: [{ from: "hold", to: "end" }] });`;
const ALL = `paths: [h.allowSettingsPath("", { read: ["human"], add: ["human"], remove: ["human"], replace: ["human"] })]`;
const JUDGED = `initial: { max: 2 }, ${ALL},
  parse: (value) => { if (typeof value.max !== "number") throw new Error("max must be a number, or nobody knows when to stop"); return value; },
  validateChange: ({ before, after, actor }) => { if (after.max < before.max) throw new Error(actor + " may only raise max from " + before.max); }`;

const set = (max: JsonValue): JsonValue => [{ op: "replace", path: "/max", value: max }];

async function waiting(settings = JUDGED): Promise<string> {
  world.put("tuned.workflow.ts", WORKFLOW(settings));
  const run = await world.start("tuned");
  await world.until(run, (view) => view.run.status === "waiting");
  return run;
}

function change(
  run: string,
  patch: JsonValue,
  options: { key?: string; expectedChangeNumber?: number | null } = {},
): ReturnType<typeof world.call<"run.changeSettings">> {
  const { expectedChangeNumber = null, key } = options;
  const payload = { run, mount: "", patch, expectedChangeNumber };
  return world.call("run.changeSettings", payload, key === undefined ? {} : { key });
}

async function current(run: string): Promise<unknown> {
  const { scopes } = (await world.call("run.settings", { run })).result;
  return scopes.map(({ changeNumber, value }) => [changeNumber, value]);
}

/** Another person's change is stored between the verdict on the next one and its own command. */
function overtake(run: string, patch: JsonValue): void {
  const { settings } = world.store;
  const store = settings.change;
  vi.spyOn(settings, "change").mockImplementationOnce(async (input) => {
    await change(run, patch);
    return store(input);
  });
}

describe("a change of settings that the workflow judges", () => {
  it("is stored when parser and validateChange accept it, and seen by later steps", async () => {
    const run = await waiting();
    expect((await change(run, set(5))).result.changeNumber).toBe(1);
    expect(await current(run)).toEqual([[1, { max: 5 }]]);
    await world.call("checkpoint.answer", { request: run, answer: null });
    expect((await world.until(run, (view) => view.run.status === "completed")).finalOutput).toEqual({ max: 5 });
  });

  it("is refused with the author's words, and nothing is stored", async () => {
    const run = await waiting();
    await expect(change(run, set("many"))).rejects.toMatchObject({
      kind: "settingsRefused",
      message: expect.stringContaining("max must be a number, or nobody knows when to stop"),
    });
    await expect(change(run, set(1))).rejects.toMatchObject({
      kind: "settingsRefused",
      message: expect.stringContaining("human may only raise max from 2"),
    });
    expect(await current(run)).toEqual([[0, { max: 2 }]]);
    const view = await world.view(run);
    expect(view.timeline.map(({ type }) => type)).not.toContain("settings.changed");
    expect(view.run.status).toBe("waiting");
  });

  it("is judged by the approved file, although it changed since", async () => {
    const run = await waiting();
    writeFileSync(join(world.folder, "tuned.workflow.ts"), WORKFLOW(`initial: { max: 2 }, ${ALL}`));
    await expect(change(run, set("many"))).rejects.toMatchObject({ message: expect.stringContaining("max must be") });
  });

  it("is not sent to the workflow again when the same request is repeated", async () => {
    const run = await waiting();
    await change(run, set(5), { key: "once" });
    const judged = world.runners.length;
    expect((await change(run, set(5), { key: "once" })).outcome).toBe("adopted");
    expect(await world.refusal(change(run, set(6), { key: "once" }))).toBe("idempotencyConflict");
    expect(world.runners).toHaveLength(judged);
  });

  it("needs no process when the rules deny it, or when no function judges", async () => {
    const run =
      await waiting(`initial: { max: 2, fixed: 1 }, paths: [h.allowSettingsPath("/max", { read: ["human"], replace: ["human"] })],
      parse: (value) => value`);
    const before = world.runners.length;
    const denied: JsonValue = [{ op: "replace", path: "/fixed", value: 2 }];
    expect(await world.refusal(change(run, denied))).toBe("settingsRefused");
    expect(await world.refusal(change(run, set(3), { expectedChangeNumber: 7 }))).toBe("settingsChanged");
    expect(world.runners).toHaveLength(before);
    const free = await waiting(`initial: { max: 2 }, ${ALL}`);
    const runners = world.runners.length;
    await change(free, set("many"));
    expect(world.runners).toHaveLength(runners);
  });

  it("is judged anew when another change was stored meanwhile", async () => {
    const run = await waiting();
    overtake(run, set(8));
    await expect(change(run, set(4))).rejects.toMatchObject({
      kind: "settingsRefused",
      message: expect.stringContaining("may only raise max from 8"),
    });
    expect(await current(run)).toEqual([[1, { max: 8 }]]);
    const judged = world.runners.flatMap(({ sent }) =>
      sent.flatMap((frame) => (frame.type === "judge" ? frame.change : [])),
    );
    expect(judged.map((judge) => [judge?.before, judge?.after])).toEqual([
      [{ max: 2 }, { max: 4 }],
      [{ max: 2 }, { max: 8 }],
      [{ max: 8 }, { max: 4 }],
    ]);
  });

  it("is refused when its expected version is not the present one any more after it was judged", async () => {
    const run = await waiting();
    overtake(run, set(8));
    expect(await world.refusal(change(run, set(9), { expectedChangeNumber: 0 }))).toBe("settingsChanged");
    expect(await current(run)).toEqual([[1, { max: 8 }]]);
  });

  it("may order the keys of the value in another way than the parser", async () => {
    const run = await waiting(`initial: { a: 1, b: 2 }, ${ALL}, parse: ({ a, b }) => ({ b, a })`);
    await change(run, [{ op: "replace", path: "/a", value: 3 }]);
    expect(await current(run)).toEqual([[1, { a: 3, b: 2 }]]);
  });

  it("is refused when the parser makes another value, or a function returns a promise", async () => {
    const made = await waiting(`initial: { max: 2 }, ${ALL}, parse: ({ max }) => ({ max: Math.min(max, 3) })`);
    await expect(change(made, set(4))).rejects.toMatchObject({ message: expect.stringContaining("changed the value") });
    const late = await waiting(`initial: { max: 2 }, ${ALL}, validateChange: async () => { throw new Error("late"); }`);
    await expect(change(late, set(4))).rejects.toMatchObject({ message: expect.stringContaining("promise") });
  });

  it("is refused when the process that judges it dies, and the run is not touched", async () => {
    const run = await waiting();
    world.onRunner = (runner) => {
      runner.filter = () => false;
      setImmediate(() => runner.kill());
    };
    await expect(change(run, set(4))).rejects.toMatchObject({
      kind: "settingsRefused",
      message: expect.stringContaining("SIGKILL"),
    });
    world.onRunner = () => undefined;
    await change(run, set(5));
    expect(await current(run)).toEqual([[1, { max: 5 }]]);
  });
});
