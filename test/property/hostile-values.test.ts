/** Values whose getters and traps throw: whoever throws or returns one fails its node, and nothing else. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asHoldpointError, HoldpointError, messageOf, stackOf, toErrorRecord } from "../../src/contracts/errors.ts";
import { errorRecordSchema } from "../../src/contracts/protocol/shared.ts";
import { failureOf } from "../../src/workflow/engine/index.ts";
import {
  action,
  compute,
  defineHumanChoices,
  choice,
  defineWorkflow,
  humanDecision,
  manualEffect,
  observedEffect,
  shell,
} from "../../src/workflow/index.ts";
import { execute, MemoryHost } from "../workflow/memory-host.ts";

const boom = (): never => {
  throw new Error("boom");
};
const TRAPS = ["get", "has", "getPrototypeOf", "ownKeys", "getOwnPropertyDescriptor", "apply"] as const;
const NAMES = [
  "message",
  "name",
  "stack",
  "kind",
  "code",
  "remedy",
  "details",
  "toRecord",
  "toJSON",
  "then",
  "applied",
];

const proxy = fc
  .tuple(fc.subarray([...TRAPS], { minLength: 1 }), fc.constantFrom("object", "error", "function"))
  .map(([traps, of]) => () => {
    const target = of === "error" ? new HoldpointError("internal", "x") : of === "function" ? () => 1 : {};
    return new Proxy(target, Object.fromEntries(traps.map((trap) => [trap, boom])));
  });
const revoked = fc.constant(() => {
  const { proxy: value, revoke } = Proxy.revocable(new Error("x"), {});
  revoke();
  return value;
});
const withGetters = fc
  .tuple(fc.subarray(NAMES, { minLength: 1 }), fc.constantFrom("plain", "error", "ours"))
  .map(([names, of]) => () => {
    const value: object = of === "ours" ? new HoldpointError("internal", "x") : of === "error" ? new Error("x") : {};
    // A stack is made at the first look, from name and message as they are then.
    void (value as Partial<Error>).stack;
    for (const name of names) Object.defineProperty(value, name, { get: boom, enumerable: true });
    return value;
  });
const lookalike = fc
  .record({ message: fc.anything(), kind: fc.anything(), code: fc.anything(), remedy: fc.anything() })
  .map((fields) => () => Object.assign(new Error("x"), { name: "HoldpointError" }, fields));
const simple = fc
  .constantFrom<unknown>(undefined, null, 1n, Symbol("s"), boom, Number.NaN, "\ud800", "text")
  .map((value) => () => value);
const cyclic = fc.constant(() => {
  const value: Record<string, unknown> = {};
  return Object.assign(value, { value });
});

/** Makers of values: fast-check looks into what it makes, and would meet the traps itself. */
const hostile: fc.Arbitrary<() => unknown> = fc.oneof(proxy, revoked, withGetters, lookalike, simple, cyclic);

describe("whatever was thrown", () => {
  test("has a text, a record that can travel, and an error of ours", () => {
    fc.assert(
      fc.property(hostile, (make) => {
        const value = make();
        expect(typeof messageOf(value)).toBe("string");
        expect(["string", "undefined"]).toContain(typeof stackOf(value));
        for (const record of [toErrorRecord(value), failureOf(value, "n"), asHoldpointError(value).toRecord()])
          expect(errorRecordSchema.safeParse(JSON.parse(JSON.stringify(record))).success).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

/** Where authored code can throw or return a value, with the outcome of a throw there. */
const PLACES: Record<string, (give: () => unknown) => unknown> = {
  "a compute node": (give) => compute({ run: give }),
  "an asynchronous compute node": (give) => compute({ run: async () => give() }),
  "an action": (give) => action({ effect: manualEffect("e"), run: give }),
  "the request of an action": (give) => action({ request: give as () => null, run: () => 1 }),
  "a look at an effect": (give) =>
    action({ effect: observedEffect("e", { observe: give as never }), run: () => boom() }),
  "a command": (give) => shell({ exec: give as never }),
  "a question": (give) =>
    humanDecision({
      audience: "ops",
      choices: defineHumanChoices({ yes: choice({ label: "Yes" }) }),
      request: give as never,
    }),
};

describe.each(Object.keys(PLACES))("%s", (place) => {
  test.each(["throws", "returns"])("that %s such a value ends its step, not the engine", async (how) => {
    await fc.assert(
      fc.asyncProperty(hostile, async (make) => {
        const give = (): unknown => {
          if (how === "throws") throw make();
          return make();
        };
        const nodes = { n: PLACES[place]?.(give) } as never;
        const definition = defineWorkflow({ name: "hostile", startAt: "n", nodes });
        const { end } = await execute(definition, { host: new MemoryHost() });
        expect(["finished", "parked"]).toContain(end.kind);
      }),
      { numRuns: 60 },
    );
  });
});
