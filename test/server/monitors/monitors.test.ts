import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { PROBES } from "../../../src/contracts/limits.ts";
import type { Store } from "../../../src/state/store.ts";
import { notProbed } from "../../../src/server/monitors/prober.ts";
import { tempFolder } from "../../state/fixture.ts";
import { HOUR, makeStage, MINUTE, START, web } from "./stage.ts";

describe("a monitor of the configuration", () => {
  test("is looked at at once, then in its interval, and tells down and up once each", async () => {
    const stage = await makeStage({ shop: web() });
    expect(stage.row("shop")).toMatchObject({ checks: 1, lastAt: START });
    stage.targets.down.add("shop");
    await stage.clock.advance(10 * MINUTE);
    expect(stage.told("shop")).toEqual(["monitor.down"]);
    stage.targets.down.clear();
    await stage.clock.advance(10 * MINUTE);
    expect(stage.told("shop")).toEqual(["monitor.down", "monitor.up"]);
    expect(stage.row("shop")).toMatchObject({ checks: 21, alerts: 1, missed: 0 });
  });

  test("goes on after a restart where it was: neither a check nor a failure in a row is lost or made twice", async () => {
    const stage = await makeStage({ shop: web() });
    stage.targets.down.add("shop");
    await stage.clock.advance(2 * MINUTE);
    const { checks, nextAt } = stage.row("shop");
    expect(stage.told("shop")).toEqual([]);
    await stage.restart();
    expect(stage.row("shop")).toMatchObject({ checks, nextAt });
    await stage.clock.advance(MINUTE);
    expect(stage.told("shop")).toEqual(["monitor.down"]);
  });

  test("that changed while no server ran is told by the first checks after it", async () => {
    const stage = await makeStage({ shop: web({ failAfter: 1 }) });
    stage.targets.down.add("shop");
    await stage.restart(3 * HOUR);
    expect(stage.told("shop")).toEqual(["monitor.down"]);
  });

  test("is looked at once after a sleep, however many checks that were, and what was missed is counted", async () => {
    const stage = await makeStage({ shop: web(), nightly: web({ everySeconds: undefined, schedule: "0 3 * * *" }) });
    await stage.clock.advance(MINUTE);
    const before = stage.targets.times("shop");
    await stage.clock.jump(60 * HOUR);
    expect(stage.targets.times("shop")).toBe(before + 1);
    expect(stage.targets.times("nightly")).toBe(1);
    expect(stage.row("shop").missed).toBeGreaterThanOrEqual(60 * 60 - 1);
    // 03:00 came twice: one was looked at late, one was not.
    expect(stage.row("nightly")).toMatchObject({ missed: 1, nextAt: Date.parse("2026-03-04T02:00:00Z") });
    await stage.clock.advance(5 * MINUTE);
    expect(stage.targets.times("shop")).toBe(before + 6);
  });

  test("keeps its standing when its interval changes, and begins anew when it looks at something else", async () => {
    const stage = await makeStage({ shop: web() });
    stage.targets.down.add("shop");
    await stage.clock.advance(5 * MINUTE);
    await stage.configure({ shop: web({ everySeconds: 30 }) });
    expect(stage.row("shop").state).toMatchObject({ standing: "down", told: "down" });
    await stage.configure({ shop: web({ probe: { type: "http", url: "http://127.0.0.1:2/" } }) });
    expect(stage.row("shop").state).toMatchObject({ standing: "new", told: "nothing" });
    await stage.configure({});
    expect(() => stage.row("shop")).toThrow("There is no monitor");
  });

  test("does not count a result of the definition before", async () => {
    const stage = await makeStage({ shop: web() });
    let answer: () => void = () => undefined;
    stage.targets.answers.set("shop", () => new Promise((resolve) => (answer = () => resolve(notProbed("late")))));
    const { nextAt } = stage.row("shop");
    // Its probe is under way now and will not end by itself.
    stage.clock.settle = () => stage.store.idle();
    await stage.clock.advance(nextAt - stage.clock.now());
    await expect.poll(() => stage.targets.times("shop")).toBe(2);
    await stage.configure({ shop: web({ timeoutSeconds: 3 }) });
    const old = answer;
    stage.targets.answers.clear();
    old();
    await stage.monitors.idle();
    // The first look, and one by the new definition; nothing of the one that was under way.
    expect(stage.row("shop")).toMatchObject({ checks: 2, unseen: 0 });
  });
});

describe("one bad monitor", () => {
  test("with a wrong definition is told with its reasons, and the others are watched", async () => {
    const stage = await makeStage({
      shop: web(),
      broken: { everySeconds: 60 },
      never: web({ everySeconds: undefined, schedule: "61 * * * *" }),
    });
    expect(stage.monitors.invalid.map(({ name }) => name)).toEqual(["broken", "never"]);
    expect(stage.monitors.invalid[1]?.problems.join()).toContain('"61 * * * *"');
    expect(stage.row("shop").checks).toBe(1);
    await stage.configure({ shop: web(), broken: web() });
    expect(stage.row("broken").checks).toBe(1);
    // What worked before goes on when its definition is spoilt.
    await stage.configure({ shop: web(), broken: { everySeconds: 60 } });
    await stage.clock.advance(2 * MINUTE);
    expect(stage.row("broken").checks).toBeGreaterThan(1);
  });

  test("whose commands hang takes the room of commands, not that of others", async () => {
    const command = web({ probe: { type: "command", command: "/bin/true" } });
    const commands = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`c${i}`, command]));
    const stage = await makeStage({});
    for (const name of Object.keys(commands)) stage.targets.answers.set(name, () => new Promise(() => undefined));
    stage.clock.settle = () => stage.store.idle();
    await stage.configure({ ...commands, shop: web() });
    await expect.poll(() => stage.row("shop").checks).toBe(1);
    expect(stage.targets.asked.filter(({ name }) => name.startsWith("c"))).toHaveLength(PROBES.commands);
  });

  test("whose probe cannot be made says nothing about its target, and is tried again soon", async () => {
    const stage = await makeStage({});
    stage.targets.answers.set("shop", () => Promise.resolve(notProbed("no process")));
    await stage.configure({ shop: web({ failAfter: 1 }) });
    await stage.clock.advance(MINUTE);
    expect(stage.told("shop")).toEqual([]);
    expect(stage.row("shop")).toMatchObject({ checks: 0, unseen: 5 });
    stage.targets.answers.clear();
    await stage.clock.advance(MINUTE);
    expect(stage.row("shop")).toMatchObject({ unseen: 0 });
    expect(stage.row("shop").checks).toBeGreaterThan(0);
  });
});

describe("an alert of a monitor", () => {
  const states = ({ store }: { store: Store }): string[] =>
    store.read.alerts.list({ all: true }).map(({ state }) => state);

  test("is made of as much of a long host and a long path as it has room for", async () => {
    const host = `${"a".repeat(60)}.`.repeat(4) + "example";
    const probe = { type: "http", url: `http://${host}/${"p".repeat(1_700)}` };
    const file = { type: "file", path: `/${"f".repeat(4_000)}` };
    const stage = await makeStage({ long: web({ failAfter: 1, probe }), file: web({ failAfter: 1, probe: file }) });
    expect(stage.monitors.invalid).toEqual([]);
    stage.targets.down.add("long").add("file");
    await stage.clock.advance(2 * MINUTE);
    expect(stage.row("long")).toMatchObject({ alerts: 1, state: { standing: "down" } });
    expect(stage.row("file")).toMatchObject({ alerts: 1, state: { standing: "down" } });
    expect(states(stage)).toEqual(["open", "open"]);
    expect(stage.troubles).toEqual([]);
  });

  test("ends with its trouble and with its monitor, also when its audience went before", async () => {
    const shop = web({ failAfter: 1, recoverAfter: 1 });
    const stage = await makeStage({ shop, other: shop });
    stage.targets.down.add("shop").add("other");
    await stage.clock.advance(2 * MINUTE);
    expect(states(stage)).toEqual(["open", "open"]);
    await stage.configure({ shop }, { audiences: {} });
    expect(states(stage).sort()).toEqual(["open", "recovered"]);
    stage.targets.down.clear();
    await stage.clock.advance(2 * MINUTE);
    expect(states(stage)).toEqual(["recovered", "recovered"]);
    expect(stage.told("shop")).toEqual(["monitor.down", "monitor.up"]);
  });

  test("cannot be made by a monitor whose name is too long, which is told with the limit", async () => {
    const stage = await makeStage({ ["n".repeat(193)]: web(), ["n".repeat(192)]: web() });
    expect(stage.monitors.invalid.map(({ problems }) => problems.join())).toEqual([
      expect.stringContaining("has 193 characters; the limit is 192"),
    ]);
  });
});

describe("a heartbeat", () => {
  const job = (more: object = {}): object =>
    web({ probe: { type: "heartbeat", graceSeconds: 60 }, everySeconds: 600, ...more });

  test("is fine while its job reports in time, and late one grace after that", async () => {
    const stage = await makeStage({ backup: job() });
    for (let i = 0; i < 5; i += 1) {
      await stage.clock.advance(10 * MINUTE);
      await stage.monitors.beat("backup", true, null);
    }
    expect(stage.told("backup")).toEqual([]);
    await stage.clock.advance(11 * MINUTE - 1);
    expect(stage.told("backup")).toEqual([]);
    await stage.clock.advance(1);
    expect(stage.told("backup")).toEqual(["monitor.down"]);
    expect(stage.row("backup").lastFinding).toEqual({ code: "late", lastAt: START + 50 * MINUTE });
    await stage.monitors.beat("backup", true, null);
    expect(stage.told("backup")).toEqual(["monitor.down", "monitor.up"]);
  });

  test("that says itself that it failed is down at once", async () => {
    const stage = await makeStage({ backup: job() });
    await stage.monitors.beat("backup", false, "disk full");
    expect(stage.told("backup")).toEqual(["monitor.down"]);
    expect(stage.row("backup").lastFinding).toEqual({ code: "reportedFailure", detail: "disk full" });
  });

  test("by a schedule is expected at the time on the wall, over a change of the clocks", async () => {
    const stage = await makeStage({ nightly: job({ everySeconds: undefined, schedule: "30 2 * * *" }) });
    await stage.clock.advance(Date.parse("2026-03-28T12:00:00Z") - START);
    await stage.monitors.beat("nightly", true, null);
    // 02:30 is skipped on the 29th: the next is 03:00 there, 01:00 in UTC.
    expect(stage.row("nightly").nextAt).toBe(Date.parse("2026-03-29T01:01:00Z"));
  });

  test("whose report may have been lost while nobody could hear it gets a turn more", async () => {
    const stage = await makeStage({ backup: job() });
    await stage.monitors.beat("backup", true, null);
    await stage.clock.jump(8 * HOUR);
    expect(stage.told("backup")).toEqual([]);
    expect(stage.row("backup").missed).toBe(1);
    await stage.clock.advance(11 * MINUTE);
    expect(stage.told("backup")).toEqual(["monitor.down"]);
    await stage.monitors.beat("backup", true, null);
    await stage.restart(30 * MINUTE);
    await stage.clock.advance(10 * MINUTE);
    expect(stage.told("backup")).toEqual(["monitor.down", "monitor.up"]);
  });

  test("cannot be probed, and no other monitor takes reports", async () => {
    const stage = await makeStage({ backup: job(), shop: web() });
    await expect(stage.monitors.check("backup")).rejects.toMatchObject({ kind: "monitorState" });
    await expect(stage.monitors.beat("shop", true, null)).rejects.toMatchObject({ kind: "monitorState" });
    await expect(stage.monitors.beat("shoq", true, null)).rejects.toMatchObject({ kind: "monitorUnknown" });
  });
});

test("five hundred monitors that become due together are each looked at once and stored in a few commands", async () => {
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`m${i}`, web({ everySeconds: 60 })]));
  const stage = await makeStage(many);
  expect(stage.targets.asked).toHaveLength(500);
  await stage.clock.advance(2 * MINUTE);
  for (const name of Object.keys(many)) {
    expect(stage.row(name).checks).toBe(stage.targets.times(name));
    expect(stage.targets.times(name)).toBeGreaterThanOrEqual(2);
  }
});

describe("a check that somebody asks for", () => {
  test("counts like another, and the interval goes on from it", async () => {
    const stage = await makeStage({ shop: web() });
    await stage.clock.advance(5 * MINUTE);
    const { checks } = stage.row("shop");
    expect(await stage.monitors.check("shop")).toMatchObject({ ok: true });
    expect(stage.row("shop")).toMatchObject({ checks: checks + 1, nextAt: stage.clock.now() + MINUTE });
  });
});

describe("a repair", () => {
  const workflow = `import { compute, defineWorkflow } from "holdpoint";
export default defineWorkflow({ name: "restart-shop", startAt: "a", nodes: { a: compute({ run: () => 1 }) }, edges: [] });`;

  async function withWorkflow(authority: unknown): Promise<Awaited<ReturnType<typeof makeStage>>> {
    const folder = tempFolder();
    const path = join(folder, "restart-shop.workflow.ts");
    writeFileSync(path, workflow);
    return makeStage({
      shop: web({ remediation: { workflow: path, project: folder, input: { pool: "blue" }, authority } }),
    });
  }

  const ask = ({ config, store }: Awaited<ReturnType<typeof makeStage>>, by: string): Promise<string> =>
    store.monitors.askRepair({ monitor: "shop", by, wish: null, access: { ...config, profiles: {}, outage: null } });
  const runs = (stage: Awaited<ReturnType<typeof makeStage>>): number =>
    stage.store.read.runs.list({ limit: 100, before: null }).length;

  test("starts when somebody asks for it, once for each trouble", async () => {
    const stage = await withWorkflow("ask");
    expect(await ask(stage, "Ann")).toBe("notDown");
    stage.targets.down.add("shop");
    await stage.clock.advance(5 * MINUTE);
    expect(runs(stage)).toBe(0);
    expect(await ask(stage, "Ann")).toBe("wanted");
    expect(await ask(stage, "Bea")).toBe("already");
    // The server dies before it has started anything; the next one finds it.
    await stage.restart();
    expect(runs(stage)).toBe(1);
    expect(stage.row("shop").repair).toMatchObject({ status: "started", by: "Ann" });
    await stage.clock.advance(10 * MINUTE);
    expect(runs(stage)).toBe(1);
    expect(stage.store.read.runs.get(stage.row("shop").repair?.runId ?? "")).toMatchObject({
      workflow: "restart-shop",
    });
  });

  test("starts by itself where the monitor says so, once for each trouble and at most so often a day", async () => {
    const stage = await withWorkflow({ auto: { perDay: 2 } });
    const outage = async (): Promise<void> => {
      stage.targets.down.add("shop");
      await stage.clock.advance(10 * MINUTE);
      stage.targets.down.clear();
      await stage.clock.advance(30 * MINUTE);
    };
    await outage();
    expect(runs(stage)).toBe(1);
    await outage();
    await outage();
    expect(runs(stage)).toBe(2);
    await stage.clock.advance(24 * HOUR);
    await outage();
    expect(runs(stage)).toBe(3);
  });

  test("whose workflow is not there is refused with the reason, and can be asked for again", async () => {
    const stage = await makeStage({ shop: web({ remediation: { workflow: "/none/x.workflow.ts" } }) });
    stage.targets.down.add("shop");
    await stage.clock.advance(5 * MINUTE);
    await ask(stage, "Ann");
    await stage.clock.advance(MINUTE);
    expect(stage.row("shop").repair).toMatchObject({ status: "refused", error: expect.stringContaining("/none/x") });
    expect(await ask(stage, "Ann")).toBe("wanted");
  });
});
