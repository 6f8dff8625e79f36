import { expect, test } from "vitest";
import { AppliedMonitors } from "../../../src/server/monitors/applied.ts";
import { Resources } from "../../../src/server/resources/resources.ts";
import { afterTest } from "../../harness/cleanups.ts";
import { takeEpoch } from "../../state/fixture.ts";
import { makeStage, MINUTE, web, type Stage } from "./stage.ts";

const ref = (projectPath: string) => ({ projectPath, manager: "monitor", key: "shop" });
const actor = { type: "human", id: "uid:1" } as const;

async function withResources(): Promise<Stage & { readonly resources: Resources; readonly applied: AppliedMonitors }> {
  const stage = await makeStage();
  const { clock, store } = stage;
  const none = (): void => undefined;
  const applied = new AppliedMonitors({
    store,
    clock,
    log: {
      debug: none,
      info: none,
      warn: none,
      error: (fields, text) => void stage.troubles.push(text, JSON.stringify(fields)),
    },
    access: () => ({ ...stage.config, profiles: {}, outage: null }),
    config: () => stage.config,
    serverEpoch: await takeEpoch(store),
    changed: () => stage.monitors.wake(),
  });
  const resources = new Resources({
    store,
    resolve: () => Promise.reject(new Error("no code is loaded")),
    wakeRunners: none,
  });
  resources.register(applied.manager);
  stage.onStood = () => applied.manager.wake();
  clock.settle = async () => {
    for (let i = 0; i < 3; i += 1) {
      await stage.monitors.idle();
      await applied.idle();
      await store.idle();
    }
  };
  afterTest(() => void applied.stop());
  return Object.assign(stage, { resources, applied });
}

const apply = (stage: { resources: Resources }, projectPath: string, spec: object) =>
  stage.resources.apply({
    ...ref(projectPath),
    spec: JSON.parse(JSON.stringify(spec)) as never,
    path: null,
    expectedVersion: null,
    receipt: null,
    actor,
  });

test("a monitor that is applied as a resource is watched, its status shows how it stands, and it goes with its resource", async () => {
  const stage = await withResources();
  await apply(stage, "/srv/a", web({ failAfter: 1, recoverAfter: 1 }));
  await stage.clock.advance(0);
  const [monitor] = stage.store.read.monitors.page("");
  expect(monitor).toMatchObject({ origin: "resource", checks: 1 });
  const detail = () => stage.store.read.managed.detail(ref("/srv/a")).resource;
  await stage.clock.advance(MINUTE);
  expect(detail().status).toMatchObject({
    resourceManagerStatus: { monitor: monitor?.name, standing: "up" },
    conditions: [{ type: "Ready", status: true }],
  });
  stage.targets.down.add(monitor?.name ?? "");
  await stage.clock.advance(3 * MINUTE);
  expect(detail().status.conditions).toMatchObject([{ type: "Ready", status: false, reason: "Down" }]);
  await stage.resources.remove({ ...ref("/srv/a"), receipt: null, actor });
  await stage.clock.advance(MINUTE);
  expect(stage.store.read.monitors.count()).toBe(0);
  expect(() => detail()).toThrow("No resource");
  expect(stage.store.read.alerts.list({ all: false })).toEqual([]);
  expect(stage.troubles).toEqual([]);
});

test("two projects may use one key: each has its own monitor, and a spec that is wrong is refused before it is stored", async () => {
  const stage = await withResources();
  await apply(stage, "/srv/a", web());
  await apply(stage, "/srv/b", web({ everySeconds: 300 }));
  await stage.clock.advance(0);
  const rows = stage.store.read.monitors.page("");
  expect(rows.map(({ spec }) => spec.everySeconds).sort()).toEqual([300, 60]);
  expect(new Set(rows.map(({ name }) => name)).size).toBe(2);
  await expect(apply(stage, "/srv/c", web({ audience: "nobody" }))).rejects.toMatchObject({ kind: "monitorInvalid" });
  await expect(apply(stage, "/srv/c", { probe: {} })).rejects.toMatchObject({ kind: "monitorInvalid" });
  // The configuration has its own names, and takes none of theirs.
  await stage.configure({ shop: web() });
  await stage.configure({});
  expect(stage.store.read.monitors.count()).toBe(2);
});
