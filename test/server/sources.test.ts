import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { configSchema, type Config } from "../../src/contracts/config.ts";
import { SOURCE } from "../../src/contracts/limits.ts";
import { definedSources, keyOf } from "../../src/contracts/source.ts";
import type { HookRequest, Ports } from "../../src/server/ports.ts";
import { sign } from "../../src/server/sources/signature.ts";
import { Sources } from "../../src/server/sources/sources.ts";
import { ControlledClock } from "../../src/server/system/controlled-clock.ts";
import type { Store } from "../../src/state/store.ts";
import { afterTest } from "../harness/cleanups.ts";
import { openTemp, tempFolder } from "../state/fixture.ts";

const NOW = Date.parse("2026-03-28T12:00:00Z");
const SECRET = "a-secret-of-the-sender";
const REF = { projectPath: "/srv/shop", manager: "pull-request", key: "shop#7" };

interface Stage {
  readonly clock: ControlledClock;
  readonly store: Store;
  readonly sources: Sources;
  readonly beats: [string, boolean, string | null][];
  readonly log: string[];
  woken: number;
  /** The status of an answer. */
  post(path: string, body: string | null, headers?: Record<string, string>): Promise<number>;
  /** A request as our own form signs it. */
  signed(body: object, change?: { id?: string; at?: number; secret?: string; source?: string }): Promise<number>;
}

async function makeStage(sources: Record<string, unknown>, path = join(tempFolder(), "state.sqlite")): Promise<Stage> {
  const clock = new ControlledClock(NOW);
  const { store } = openTemp({ clock: clock as never, path });
  const secretFile = join(tempFolder(), "secret");
  writeFileSync(secretFile, `${SECRET}\n`, { mode: 0o600 });
  const config: Config = configSchema.parse({
    schema: "holdpoint.config.v1",
    timeZone: "Europe/Berlin",
    webhooks: { port: 8_787 },
    sources: JSON.parse(JSON.stringify(sources).replaceAll("SECRET", secretFile)) as Record<string, unknown>,
  });
  let take: ((request: HookRequest) => Promise<number>) | undefined;
  const log: string[] = [];
  const note = (fields: object, text: string): void => void log.push(`${text} ${JSON.stringify(fields)}`);
  const ports = {
    clock,
    log: { debug: note, info: note, warn: note, error: note },
    hooks: {
      serve: (_: unknown, taker: typeof take) => Promise.resolve(void (take = taker)),
      close: () => Promise.resolve(),
    },
    homeKey: () => Buffer.from("the key of this home"),
  } as unknown as Ports;
  const stage: Stage = {
    clock,
    store,
    beats: [],
    log,
    woken: 0,
    sources: undefined as unknown as Sources,
    post: (path, body, headers = {}) =>
      take?.({ method: "POST", path, headers, body: body === null ? null : Buffer.from(body) }) ?? Promise.resolve(0),
    signed(body, { id = "one", at = clock.now(), secret = SECRET, source = "code" } = {}) {
      const text = JSON.stringify(body);
      const time = String(Math.floor(at / 1_000));
      return stage.post(`/hook/${source}`, text, {
        "x-holdpoint-id": id,
        "x-holdpoint-timestamp": time,
        "x-holdpoint-signature": sign(secret, [`${time}.${id}.`, text]),
      });
    },
  };
  const made = new Sources({
    store,
    ports,
    config: () => config,
    beat: (...report) => Promise.resolve(void stage.beats.push(report)),
    woken: () => (stage.woken += 1),
  });
  (stage as { sources: Sources }).sources = made;
  clock.settle = async () => {
    await made.idle();
    await store.idle();
  };
  await made.apply();
  afterTest(() => void made.stop());
  return stage;
}

const WEBHOOK = {
  type: "webhook",
  project: REF.projectPath,
  resourceManager: REF.manager,
  key: "{$.repository.name}#{$.number}",
  secretFile: "SECRET",
};
const BODY = { repository: { name: "shop" }, number: 7 };

describe("a webhook", () => {
  test("that is signed, in time and new wakes its resource; nobody is told more than that it was taken", async () => {
    const stage = await makeStage({ code: WEBHOOK });
    expect(await stage.signed(BODY)).toBe(202);
    // There is no such resource yet: the hint is taken all the same, and wakes nobody.
    expect(stage.woken).toBe(0);
    expect(stage.store.read.sources.receipts("code")).toBe(1);
    await stage.store.managed.apply({
      ...REF,
      spec: {},
      initialStatus: {},
      lane: "runner",
      source: "/srv/shop/pull-request.resource-manager.ts",
      sources: [],
      expectedVersion: null,
      receipt: null,
      actor: { type: "human", id: "uid:1" },
    });
    expect(await stage.signed(BODY, { id: "two" })).toBe(202);
    expect(stage.woken).toBe(1);
    expect(stage.store.read.managed.dueAt("runner", NOW, 10).count).toBe(1);
  });

  test("counts once, however often it comes, also after a restart", async () => {
    const path = join(tempFolder(), "state.sqlite");
    const first = await makeStage({ code: WEBHOOK }, path);
    expect(await first.signed(BODY)).toBe(202);
    expect(await first.signed(BODY)).toBe(202);
    first.store.close();
    const second = await makeStage({ code: WEBHOOK }, path);
    expect(await second.signed(BODY)).toBe(202);
    expect(second.store.read.sources.receipts("code")).toBe(1);
    expect(second.log.join("\n")).toContain('"outcome":"duplicate"');
  });

  test.each([
    ["another secret", { secret: "guessed" }],
    ["a time that is not ours", { at: NOW - SOURCE.clockSkewMs - 1_000 }],
    ["an unknown source", { source: "other" }],
    ["a dot in its id", { id: "one.two" }],
    ["an id that is too long", { id: "x".repeat(SOURCE.idChars + 1) }],
  ])("with %s is refused like every other, and the log says why", async (_, change) => {
    const stage = await makeStage({ code: WEBHOOK });
    expect(await stage.signed(BODY, change)).toBe(400);
    expect(stage.log.join("\n")).toMatch(/refused.*"why"/);
    expect(stage.log.join("\n")).not.toContain(SECRET);
    expect(stage.store.read.sources.receipts("code")).toBe(0);
  });

  test("whose body, path or method is wrong is refused before anything is looked at", async () => {
    const stage = await makeStage({ code: WEBHOOK });
    expect(await stage.post("/hook/code", null)).toBe(400);
    expect(await stage.post("/hook/code/more", "{}")).toBe(400);
    expect(await stage.post("/hook/%E0%A4%A", "{}")).toBe(400);
    expect(await stage.post("/", "{}")).toBe(400);
    expect(await stage.signed({ repository: {}, number: 7 })).toBe(400);
  });

  test("that was caught cannot be shifted into another one: no piece of a body becomes part of an id", async () => {
    const stage = await makeStage({ code: { ...WEBHOOK, key: "all" } });
    const time = String(NOW / 1_000);
    const signature = sign(SECRET, [`${time}.one.`, "x.{}"]);
    const headers = { "x-holdpoint-timestamp": time, "x-holdpoint-signature": signature };
    expect(await stage.post("/hook/code", "x.{}", { ...headers, "x-holdpoint-id": "one" })).toBe(202);
    expect(await stage.post("/hook/code", "{}", { ...headers, "x-holdpoint-id": "one.x" })).toBe(400);
    expect(stage.store.read.sources.receipts("code")).toBe(1);
  });

  test("signed as GitHub does is known by its body: its delivery id is not signed", async () => {
    const stage = await makeStage({ code: { ...WEBHOOK, signature: "github" } });
    const text = JSON.stringify(BODY);
    const headers = { "x-github-delivery": "d-1", "x-hub-signature-256": sign(SECRET, [text]) };
    expect(await stage.post("/hook/code", text, headers)).toBe(202);
    expect(await stage.post("/hook/code", `${text} `, headers)).toBe(400);
    expect(await stage.post("/hook/code", text, { ...headers, "x-github-delivery": "d-2" })).toBe(202);
    expect(stage.log.join("\n")).toContain('"outcome":"duplicate"');
    expect(stage.store.read.sources.receipts("code")).toBe(1);
  });

  test("comes too often at some point, and may come again later", async () => {
    const stage = await makeStage({ code: WEBHOOK });
    const answers: number[] = [];
    for (let i = 0; i <= SOURCE.perMinute; i += 1) answers.push(await stage.signed(BODY, { id: `id-${i}` }));
    expect(answers.filter((status) => status === 202)).toHaveLength(SOURCE.perMinute);
    expect(answers.at(-1)).toBe(429);
    await stage.clock.advance(60_000);
    expect(await stage.signed(BODY, { id: "later" })).toBe(202);
  });

  test("of strangers cannot fill the log", async () => {
    const stage = await makeStage({ code: WEBHOOK });
    for (let i = 0; i < 3 * SOURCE.perMinute; i += 1) await stage.post("/hook/nothing", "{}");
    expect(stage.log.filter((line) => line.includes("refused"))).toHaveLength(SOURCE.perMinute);
  });
});

describe("the address of a heartbeat", () => {
  test("takes reports of its job, and nothing else", async () => {
    const stage = await makeStage({});
    const path = new URL(stage.sources.heartbeatUrl("backup") ?? "").pathname;
    expect(await stage.post(path, "")).toBe(202);
    expect(await stage.post(`${path}/fail`, "disk full\n")).toBe(202);
    expect(stage.beats).toEqual([
      ["backup", true, null],
      ["backup", false, "disk full"],
    ]);
    expect(await stage.post(path.replace("backup", "other"), "")).toBe(400);
    expect(await stage.post(`${path}x`, "")).toBe(400);
    expect(await stage.post(`${path}/drop`, "")).toBe(400);
    expect(stage.beats).toHaveLength(2);
  });
});

describe("a schedule", () => {
  const SCHEDULE = { type: "schedule", project: REF.projectPath, resourceManager: REF.manager, key: REF.key };

  test("comes once for each occurrence, over a change of the clocks, and counts what a sleep missed", async () => {
    const stage = await makeStage({ nightly: { ...SCHEDULE, schedule: "30 2 * * *" } });
    const row = (): unknown => stage.store.read.sources.schedules()[0];
    expect(row()).toMatchObject({ nextAt: Date.parse("2026-03-29T01:00:00Z"), missed: 0 });
    await stage.clock.advance(13 * 3_600_000);
    expect(row()).toMatchObject({
      nextAt: Date.parse("2026-03-30T00:30:00Z"),
      lastAt: Date.parse("2026-03-29T01:00:00Z"),
    });
    await stage.clock.jump(72 * 3_600_000);
    expect(row()).toMatchObject({ missed: 2, nextAt: Date.parse("2026-04-02T00:30:00Z") });
  });

  test("keeps what it waits for over a reload, and begins anew when its rhythm changes", async () => {
    const stage = await makeStage({ often: { ...SCHEDULE, everySeconds: 600 } });
    await stage.clock.advance(60_000);
    await stage.sources.apply();
    expect(stage.store.read.sources.schedules()).toMatchObject([{ nextAt: NOW + 600_000 }]);
  });
});

describe("a watched folder", () => {
  test("wakes its resource when something in it changes, a row of changes only a few times", async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, "in"));
    const watch = { type: "watch", project: REF.projectPath, resourceManager: REF.manager, key: REF.key, path: folder };
    const stage = await makeStage({ files: watch });
    let asked = 0;
    const changed = stage.store.sources.changed;
    (stage.store.sources as { changed: typeof changed }).changed = (input) => {
      asked += 1;
      return changed(input);
    };
    // The watcher is ready when it sees something; until then the file is written again.
    await expect.poll(() => (writeFileSync(join(folder, "in", `a${Math.random()}`), "1"), asked)).toBe(1);
    for (let i = 0; i < 20; i += 1) writeFileSync(join(folder, "in", "b"), String(i));
    await expect.poll(async () => (await stage.clock.advance(SOURCE.settleMs), asked)).toBeGreaterThanOrEqual(2);
    // How the system cuts a row of changes into events is its own affair.
    expect(asked).toBeLessThan(8);
    await stage.sources.stop();
  });
});

test("a source that is wrong is told, and the others work", () => {
  const good = { ...WEBHOOK, secretFile: "/etc/secret" };
  const defined = definedSources({
    timeZone: "UTC",
    sources: { good, bad: { ...good, secretFile: "secret" }, worse: { type: "schedule", ...REF }, odd: 7 },
  });
  expect(defined.good.map(({ name }) => name)).toEqual(["good"]);
  expect(defined.bad.map(({ name }) => name)).toEqual(["bad", "worse", "odd"]);
  expect(defined.bad[0]?.problems.join()).toContain("absolute path");
});

test("a key is made of what came, or not at all", () => {
  expect(keyOf("{$.a.b}-{$.n}", { a: { b: "x" }, n: 3 })).toBe("x-3");
  expect(keyOf("fixed", undefined)).toBe("fixed");
  for (const body of [
    undefined,
    null,
    {},
    { a: { b: "" }, n: 1 },
    { a: { b: { c: 1 } }, n: 1 },
    { a: { b: "x".repeat(600) }, n: 1 },
  ])
    expect(keyOf("{$.a.b}-{$.n}", body)).toBeUndefined();
  expect(keyOf("{$.constructor.name}", {})).toBeUndefined();
});
