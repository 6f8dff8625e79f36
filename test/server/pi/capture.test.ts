/** What a session records of its run: kept beside the run, each record once, through everything that a run goes through, and never in its way. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { SessionRecord } from "../../../src/contracts/pi/session-record.ts";
import { type FakeSession, SessionFile } from "../../harness/pi-session.ts";
import { makeWorld, type World } from "../runs/world.ts";
import { Stage } from "./stage.ts";

const PLAN = `import * as h from "holdpoint";
export default h.defineWorkflow({ name: "plan", startAt: "plan", nodes: {
  plan: h.agent({ prompt: "Plan it.", expectedOutput: "Anything." }),
}, edges: [] });`;
const BUSY = `import * as h from "holdpoint";
export default h.defineWorkflow({ name: "busy", startAt: "work", nodes: {
  work: h.action({ run: async ({ publishUpdate }) => {
    for (let n = 0; n < 30; n += 1) await publishUpdate({ type: "note", key: "k" + n, data: { n } });
    return 30;
  } }),
}, edges: [] });`;

let world: World;
let file: SessionFile;
let session: FakeSession;
let stage: Stage;

beforeEach(async () => {
  world = await makeWorld();
  file = new SessionFile("s-1");
  stage = new Stage(world, file);
  world.put("plan.workflow.ts", PLAN);
  world.put("busy.workflow.ts", BUSY);
});
afterEach(() => stage.close());

const entry = (id: string): SessionRecord => ({ at: 1, kind: "entry", entryId: id, data: { id, type: "message" } });
const capture = (
  runId: string,
  first: number,
  records: SessionRecord[],
  more: { instance?: string; dropped?: number; before?: string[] } = {},
) =>
  session.call({
    type: "capture",
    runId,
    instance: more.instance ?? "i-1",
    first,
    records,
    ...(more.before === undefined ? {} : { before: more.before }),
    dropped: more.dropped ?? 0,
  });
const read = async (run: string, after = 0, limit = 256) =>
  (await world.call("run.session", { run, after, limit })).result;

describe("what a session records of its run", () => {
  it("is kept once and in order, whatever the run and the server go through meanwhile, and read in pages", async () => {
    session = await stage.open();
    const run = await stage.start("plan");
    const step = await session.has("step");
    expect(await capture(run, 0, [entry("a"), entry("b")])).toMatchObject({ ok: true });
    await world.call("run.pause", { run });
    await world.call("run.resume", { run });
    await world.crash();
    session = await stage.open();
    // What was stored before the loss is sent again.
    expect(await capture(run, 1, [entry("b"), entry("c")])).toMatchObject({ ok: true });
    const { message } = step.delivery.details;
    if (message.kind !== "step") throw new Error("no step");
    await session.submit(message.requestId, {});
    await world.until(run, ({ run: { status } }) => status === "completed", "the end");
    expect(await capture(run, 0, [entry("d")], { instance: "i-2", dropped: 3 })).toMatchObject({ ok: true });

    const all = await read(run);
    expect(all.records.map(({ entryId, instance }) => [entryId, instance])).toEqual([
      ["a", "i-1"],
      ["b", "i-1"],
      ["c", "i-1"],
      ["d", "i-2"],
    ]);
    expect(all.captures).toMatchObject([
      { instance: "i-1", sessionId: "s-1", records: 3, dropped: 0 },
      { instance: "i-2", records: 1, dropped: 3 },
    ]);
    const first = await read(run, 0, 3);
    expect(first).toMatchObject({ more: true });
    const rest = await read(run, first.records.at(-1)?.no ?? 0, 3);
    expect(rest).toMatchObject({ more: false, records: [{ entryId: "d", data: { id: "d", type: "message" } }] });
  });

  it("tells how many entries a killed Pi could not send: those between its last and what its successor found", async () => {
    session = await stage.open();
    const run = await stage.start("plan");
    await capture(run, 0, [entry("a"), entry("b")], { before: ["old-1", "old-2"] });
    session.kill();
    session = await stage.open();
    const next = { instance: "i-2", before: ["old-2", "a", "b", "c", "d"] };
    await capture(run, 0, [entry("e")], next);
    // Sent again after a loss of the connection.
    await capture(run, 0, [entry("e")], next);
    session = await stage.open();
    await capture(run, 0, [entry("f")], { instance: "i-3", before: ["d", "e"] });
    const { captures } = await read(run);
    expect(captures.map(({ dropped, instance, records }) => [instance, records, dropped])).toEqual([
      ["i-1", 2, 0],
      ["i-2", 1, 2],
      ["i-3", 1, 0],
    ]);
  });

  it("is refused of another session's run, which changes nothing of either", async () => {
    session = await stage.open();
    const other = await stage.start("plan", { session: "s-2" });
    expect(await capture(other, 0, [entry("a")])).toMatchObject({ ok: false });
    expect((await read(other)).captures).toEqual([]);
    expect((await world.view(other)).run.finishedAt).toBeNull();
  });

  it("fails without failing the run", async () => {
    session = await stage.open();
    const run = await stage.start("plan");
    const step = await session.has("step");
    Object.assign(world.store.sessions, { capture: () => Promise.reject(new Error("the disk says no")) });
    expect(await capture(run, 0, [entry("a")])).toMatchObject({ ok: false });
    const { message } = step.delivery.details;
    if (message.kind !== "step") throw new Error("no step");
    expect(await session.submit(message.requestId, {})).toMatchObject({ ok: true });
    const { run: end, timeline } = await world.until(run, ({ run: { finishedAt } }) => finishedAt !== null, "the end");
    expect(end.status).toBe("completed");
    expect(timeline.filter(({ type }) => type.includes("capture"))).toEqual([]);
  });
});

describe("a session that was closed while its run went on", () => {
  it("catches up with one view and one message, not with everything that happened", async () => {
    const run = await stage.start("busy");
    const { updates } = await world.until(run, ({ run: { finishedAt } }) => finishedAt !== null, "the end");
    expect(updates.published).toBe(30);
    session = await stage.open();
    await session.has("terminal");
    expect(file.entries).toHaveLength(1);
    expect(session.frames.filter(({ type }) => type === "deliver")).toHaveLength(1);
  });
});
