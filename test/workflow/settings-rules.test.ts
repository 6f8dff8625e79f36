// Changes of settings: JSON Patch as RFC 6902 has it, who may touch what, and the limits.
import { describe, expect, it } from "vitest";
import type { JsonValue } from "../../src/contracts/protocol/shared.ts";
import type { PatchOperation, SettingsActor } from "../../src/contracts/settings.ts";
import { allowSettingsPath } from "../../src/workflow/index.ts";
import { applyPatch, changeSettings, readableSettings } from "../../src/workflow/rules/index.ts";

const patch = (value: unknown, ...operations: unknown[]): unknown =>
  applyPatch(value as JsonValue, operations as PatchOperation[]);
const refused = (value: unknown, ...operations: unknown[]): string => {
  try {
    return `made ${JSON.stringify(patch(value, ...operations))}`;
  } catch (error) {
    return (error as Error).message;
  }
};

describe("JSON Patch", () => {
  it("does what the examples of RFC 6902 do", () => {
    expect(patch({ foo: "bar" }, { op: "add", path: "/baz", value: "qux" })).toEqual({ foo: "bar", baz: "qux" });
    expect(patch({ foo: ["bar", "baz"] }, { op: "add", path: "/foo/1", value: "qux" })).toEqual({
      foo: ["bar", "qux", "baz"],
    });
    expect(patch({ baz: "qux", foo: "bar" }, { op: "remove", path: "/baz" })).toEqual({ foo: "bar" });
    expect(patch({ foo: ["bar", "qux", "baz"] }, { op: "remove", path: "/foo/1" })).toEqual({ foo: ["bar", "baz"] });
    expect(patch({ baz: "qux", foo: "bar" }, { op: "replace", path: "/baz", value: "boo" })).toEqual({
      baz: "boo",
      foo: "bar",
    });
    expect(
      patch(
        { foo: { bar: "baz", waldo: "fred" }, qux: { corge: "grault" } },
        { op: "move", from: "/foo/waldo", path: "/qux/thud" },
      ),
    ).toEqual({ foo: { bar: "baz" }, qux: { corge: "grault", thud: "fred" } });
    expect(patch({ foo: ["all", "grass", "cows", "eat"] }, { op: "move", from: "/foo/1", path: "/foo/3" })).toEqual({
      foo: ["all", "cows", "eat", "grass"],
    });
    expect(
      patch(
        { baz: "qux", foo: ["a", 2, "c"] },
        { op: "test", path: "/baz", value: "qux" },
        { op: "test", path: "/foo/1", value: 2 },
      ),
    ).toBeDefined();
    expect(patch({ "/": 9, "~1": 10 }, { op: "test", path: "/~01", value: 10 })).toEqual({ "/": 9, "~1": 10 });
    expect(patch({ foo: ["bar"] }, { op: "add", path: "/foo/-", value: ["abc", "def"] })).toEqual({
      foo: ["bar", ["abc", "def"]],
    });
    expect(patch({ foo: null }, { op: "copy", from: "/foo", path: "/bar" })).toEqual({ foo: null, bar: null });
    expect(patch({ a: 1 }, { op: "replace", path: "", value: [] })).toEqual([]);
    expect(patch({ a: { b: 1 } }, { op: "move", from: "/a", path: "" })).toEqual({ b: 1 });
  });

  it("refuses paths that lead nowhere, and then changes nothing", () => {
    const value = { foo: "bar", list: [1] };
    expect(refused(value, { op: "add", path: "/baz/bat", value: 1 })).toContain('there is no "baz"');
    expect(refused(value, { op: "remove", path: "/gone" })).toContain('there is no "gone"');
    expect(refused(value, { op: "replace", path: "/gone", value: 1 })).toContain("Operation 1 (replace /gone)");
    expect(refused(value, { op: "test", path: "/foo", value: "baz" })).toContain("another one");
    expect(refused(value, { op: "add", path: "/list/2", value: 1 })).toContain("beyond the end");
    expect(refused(value, { op: "add", path: "/list/01", value: 1 })).toContain("no index");
    expect(refused(value, { op: "add", path: "/list/1e0", value: 1 })).toContain("no index");
    expect(refused(value, { op: "move", from: "/list", path: "/list/0" })).toContain("into itself");
    expect(refused(value, { op: "add", path: "foo", value: 1 })).toContain("no JSON Pointer");
    expect(refused(value, { op: "add", path: "/a~2b", value: 1 })).toContain("no JSON Pointer");
    expect(refused(value, { op: "remove", path: "/foo/x" })).toContain("no object or list");
    expect(value).toEqual({ foo: "bar", list: [1] });
  });

  it("does not reach properties that no JSON has", () => {
    expect(refused({}, { op: "add", path: "/__proto__/polluted", value: 1 })).toContain("not allowed");
    expect(refused({}, { op: "add", path: "/constructor/prototype/polluted", value: 1 })).toContain("not allowed");
    expect(refused({}, { op: "replace", path: "/toString", value: 1 })).toContain("there is no");
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});

describe("permission", () => {
  const settings = {
    rules: [
      allowSettingsPath("/limits", {
        read: ["session", "human"],
        replace: ["human"],
        add: ["human", "session"],
        remove: ["human"],
      }),
      allowSettingsPath("/limits/secret", { read: ["human"] }),
      allowSettingsPath("/limits/items", { read: ["session"], replace: ["session"] }),
      allowSettingsPath("/notes", { add: ["session"], remove: ["session"], read: ["session"] }),
    ],
  };
  const value: JsonValue = { limits: { items: 1, other: 2, secret: "s" }, limitsX: 3, notes: [{ a: 1 }] };
  const change = (actor: SettingsActor, ...operations: unknown[]): unknown => {
    try {
      return changeSettings({ settings, actor, value, changeNumber: 4, patch: operations }).changeNumber;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it("is denied by default, and the most specific rule decides alone, on borders of segments", () => {
    expect(change("human", { op: "replace", path: "/limits/other", value: 3 })).toBe(5);
    expect(change("session", { op: "replace", path: "/limits/other", value: 3 })).toContain(
      "session may not replace /limits/other",
    );
    expect(change("session", { op: "replace", path: "/limits/items", value: 3 })).toBe(5);
    expect(change("human", { op: "replace", path: "/limits/items", value: 3 })).toContain(
      "human may not replace /limits/items",
    );
    expect(change("human", { op: "replace", path: "/limitsX", value: 3 })).toContain("may not replace /limitsX");
    expect(change("policy", { op: "test", path: "", value })).toContain("may not read the whole value");
  });

  it("an operation on a whole object does not slip past a rule inside it", () => {
    expect(change("human", { op: "replace", path: "/limits", value: {} })).toContain("may not replace /limits/secret");
    expect(change("human", { op: "remove", path: "/limits" })).toContain("may not remove /limits/secret");
  });

  it("copy, move and test need what they do", () => {
    expect(change("session", { op: "copy", from: "/limits/other", path: "/limits/more" })).toBe(5);
    expect(change("session", { op: "copy", from: "/limits/secret", path: "/limits/more" })).toContain(
      "may not read /limits/secret",
    );
    expect(change("session", { op: "copy", from: "/limits/items", path: "/limits/other" })).toContain(
      "may not replace /limits/other",
    );
    expect(change("session", { op: "move", from: "/notes/0", path: "/notes/-" })).toBe(5);
    expect(change("session", { op: "move", from: "/limits/items", path: "/notes/-" })).toContain("may not remove");
    expect(change("session", { op: "test", path: "/limits/secret", value: "s" })).toContain("may not read");
    expect(change("session", { op: "add", path: "/limits/other", value: 1 })).toContain("may not replace");
  });

  it("whoever may not read a part does not see it", () => {
    expect(readableSettings(settings, "session", value)).toEqual({ limits: { items: 1, other: 2 }, notes: [{ a: 1 }] });
    expect(readableSettings(settings, "human", value)).toEqual({ limits: { other: 2, secret: "s" } });
    expect(readableSettings(settings, "policy", value)).toBeUndefined();
  });

  it("an expected version that is not the present one is told apart from a refusal", () => {
    const stale = { settings, actor: "human", value, changeNumber: 4, expectedChangeNumber: 3, patch: [] } as const;
    expect(() => changeSettings(stale)).toThrowError(expect.objectContaining({ kind: "settingsChanged" }));
    expect(changeSettings({ ...stale, expectedChangeNumber: 4 }).value).toBe(value);
  });

  it("limits name what was seen", () => {
    const add = { op: "add", path: "/limits/more", value: 1 };
    expect(change("human", ...Array.from({ length: 257 }, () => add))).toBe(
      "The change has 257 operations; the limit is 256.",
    );
    expect(change("human", { ...add, value: "x".repeat(70_000) })).toContain("the limit is 65536");
    expect(change("human", { ...add, path: `/limits/${"x".repeat(1_020)}` })).toBe(
      "A path has 1028 bytes; the limit is 1024.",
    );
    expect(change("human", { op: "inc", path: "/limits" })).toContain("Operation 1 is none of");
    const large = { limits: { a: "x".repeat(260_000), secret: 1, items: 1 } };
    expect(() =>
      changeSettings({
        settings,
        actor: "human",
        value: large,
        changeNumber: 0,
        patch: [{ ...add, value: "y".repeat(3_000) }],
      }),
    ).toThrow("the limit is 262144");
  });
});
