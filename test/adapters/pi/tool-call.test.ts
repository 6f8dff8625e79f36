// The second, strict check of the tool's calls, and the shape that a model sees.
import { expect, test } from "vitest";
import { parseCall } from "../../../adapters/pi/extension/tool/call.ts";
import { TOOL_SHAPE } from "../../../adapters/pi/extension/tool/shape.ts";

test("every action that a model may name is understood, and no other", () => {
  const given = {
    workflow: "deploy",
    runId: "7k3f",
    requestId: "c-9f31c2",
    input: {},
    patch: [{ op: "replace", path: "/a", value: 1 }],
    prompt: "tell me",
    followUpId: "f-1",
    update: { type: "progress", key: "plan", data: {} },
    output: 1,
  };
  const needs: Readonly<Record<string, readonly (keyof typeof given)[]>> = {
    start: ["workflow", "input"],
    restart: ["runId"],
    answer: ["requestId", "input"],
    "change-settings": ["patch"],
    "queue-follow-up": ["prompt"],
    "remove-follow-up": ["followUpId"],
    update: ["requestId", "update"],
    submit: ["requestId", "output"],
  };
  for (const action of TOOL_SHAPE.parameters.properties.action.enum) {
    const call = { action, ...Object.fromEntries((needs[action] ?? []).map((name) => [name, given[name]])) };
    expect(parseCall(call)).toEqual(call);
  }
  expect(() => parseCall({ action: "decide" })).toThrow(/not understood/);
});

test("a field that an action does not have is refused by name", () => {
  expect(() => parseCall({ action: "status", output: 1 })).toThrow(/output/);
  expect(() => parseCall({ action: "submit", requestId: "q", output: 1, runId: "7k3f" })).toThrow(/runId/);
  expect(() => parseCall({ action: "answer", requestId: "q", input: 1, choice: "approve" })).toThrow(/choice/);
});

test("the shape is one object at its root", () => {
  expect(TOOL_SHAPE.parameters).toMatchObject({ type: "object", additionalProperties: false, required: ["action"] });
  expect(TOOL_SHAPE.parameters).not.toHaveProperty("anyOf");
});
