// Settings: which version a step sees, and routes made with settings that changed.
import { describe, expect, it } from "vitest";
import { runWorkflow, startWorkflow, type TestRun } from "../../src/testing/index.ts";
import {
  action,
  allowSettingsPath,
  compute,
  defineWorkflow,
  idempotentEffect,
  settingsRoute,
  workflowSettings,
} from "../../src/workflow/index.ts";

describe("settings", () => {
  const settings = workflowSettings({
    initial: { limit: 2 },
    paths: [allowSettingsPath("/limit", { read: ["human"], replace: ["human"] })],
  });

  it("an attempt keeps the version with which it began; later ones see the new one", async () => {
    const seen: unknown[] = [];
    const workflow = defineWorkflow({
      name: "w",
      settings,
      startAt: "a",
      nodes: {
        a: action({
          effect: idempotentEffect("a"),
          run: (context) => {
            started.changeSettings([{ op: "replace", path: "/limit", value: 7 }]);
            seen.push(context.settings, context.settingsChangeNumber, context.settingsScopeId);
          },
        }),
        b: compute({ run: (context) => void seen.push(context.settings, context.settingsChangeNumber) }),
      },
      edges: [{ from: "a", to: "b" }],
    });
    const started: TestRun = startWorkflow(workflow);
    await started.settled();
    expect(seen).toEqual([{ limit: 2 }, 0, "test-run:$root:1", { limit: 7 }, 1]);
    started.assertEffect("a", { attempts: 1, state: "applied" });
  });

  it("a route made with settings that changed meanwhile is made again, also when it is the last step", async () => {
    for (const last of [false, true]) {
      let changes = 0;
      const seen: number[] = [];
      const workflow = defineWorkflow({
        name: "w",
        settings,
        startAt: "route",
        nodes: {
          route: settingsRoute({
            run: ({ settings: now }) => {
              seen.push(now.limit);
              if (changes++ === 0) started.changeSettings([{ op: "replace", path: "/limit", value: 5 }]);
              return { limit: now.limit };
            },
          }),
          ...(last ? {} : { end: compute({ run: ({ outputs }) => outputs["route"] }) }),
        },
        edges: last ? [] : [{ from: "route", to: "end" as never }],
      });
      const started: TestRun = startWorkflow(workflow);
      await started.settled();
      expect(started.output).toEqual({ limit: 5 });
      expect(seen).toEqual([2, 5]);
      expect(started.events.filter(({ type }) => type === "settings_route_retried")).toHaveLength(1);
    }
  });

  it("first settings that the parser refuses or changes fail the first node", async () => {
    const broken = (parse: (value: any) => any) =>
      runWorkflow(
        defineWorkflow({
          name: "w",
          settings: workflowSettings({ initial: { a: 1 }, parse, paths: [] }),
          startAt: "a",
          nodes: { a: compute({ run: () => 1 }) },
        }),
      );
    expect(
      (
        await broken(() => {
          throw new Error("no");
        })
      ).error,
    ).toMatchObject({ kind: "settingsRefused" });
    expect((await broken(() => ({ a: 2 }))).error?.message).toContain("changed the value");
  });
});
