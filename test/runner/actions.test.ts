// Actions that follow one another: what the runner says of one, and what it asks for the next, go in one frame.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runSession } from "../../src/runner/session.ts";
import { connect } from "./fake-server.ts";
import { makeFolder, type Folder } from "./folder.ts";

let folder: Folder;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

/** Three visits of an action and a pure end; `more` are further properties of the action. */
function acting(
  more = "",
  run = "({ outputs }) => ({ n: (outputs.act?.n ?? 0) + 1, again: (outputs.act?.n ?? 0) < 2 })",
): string {
  return `import { action, compute, defineWorkflow, idempotentEffect } from "holdpoint";
export default defineWorkflow({
  name: "acting", startAt: "act",
  nodes: {
    act: action({ effect: idempotentEffect("act"), ${more} run: ${run} }),
    end: compute({ run: ({ outputs }) => outputs.act.n }),
  },
  edges: [{ from: "act", switch: { on: "$.again", cases: { true: "act", false: "end" } } }],
});
`;
}

describe("an action that another one follows", () => {
  it("is settled with its step, and the next one is reserved behind it, in one frame", async () => {
    folder.put("w.workflow.ts", acting());
    const { port, server } = connect();
    server.startAt = "act";
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toMatchObject({ reason: "completed" });
    expect(
      server.all("advance").map(({ entries, reserve, settle }) => [entries.length, settle?.outcome, reserve?.nodeId]),
    ).toEqual([
      [1, "applied", "act"],
      [1, "applied", "act"],
      [1, undefined, undefined],
    ]);
    expect(server.all("effect.reserve")).toHaveLength(1);
    // Pure work follows the last one, so that its settlement waits for nothing.
    expect(server.all("effect.settle")).toMatchObject([{ outcome: "applied", result: { n: 3, again: false } }]);
    expect(server.all("finish")[0]?.entry).toMatchObject({ step: 3, output: 3 });
  });

  it("is settled at once when the author's code runs before the next reservation", async () => {
    folder.put("w.workflow.ts", acting("request: ({ outputs }) => ({ after: outputs.act?.n ?? 0 }),"));
    const { port, server } = connect();
    server.startAt = "act";
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toMatchObject({ reason: "completed" });
    expect(server.all("effect.settle")).toHaveLength(3);
    expect(server.all("advance").filter(({ settle }) => settle !== undefined)).toEqual([]);
    const asked = [
      ...server.all("effect.reserve").map(({ request }) => request),
      ...server.all("advance").flatMap(({ reserve }) => (reserve === undefined ? [] : [reserve.request])),
    ];
    expect(asked).toHaveLength(3);
    expect(asked).toEqual(expect.arrayContaining([{ after: 0 }, { after: 1 }, { after: 2 }]));
  });

  it("begins only when the reservation has come, and again when its step was taken back", async () => {
    folder.put("w.workflow.ts", acting());
    const { port, server } = connect();
    server.startAt = "act";
    let refused = false;
    server.respond = (frame) => {
      if (frame.type === "effect.reserve" && frame.step === 0 && refused) {
        return [
          {
            type: "effect.reserved",
            messageId: frame.messageId,
            effectId: "effect-1",
            key: "key-1",
            attempt: 1,
            state: "applied",
            result: { n: 1, again: true },
          },
        ];
      }
      if (frame.type !== "advance" || refused) return server.playAlong(frame);
      refused = true;
      const position = { nodeId: "act", step: 0, visit: 1, interrupted: false };
      return [{ type: "rewind", from: 0, reason: "test", position, visits: { act: 1 } }];
    };
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toMatchObject({ reason: "completed" });
    // What was reserved behind the refused step got no answer, and the step was done again from what is known of its effect.
    expect(server.all("advance").map(({ first, settle }) => [first, settle?.outcome])).toEqual([
      [0, "applied"],
      [0, undefined],
      [1, "applied"],
      [2, undefined],
    ]);
    expect(server.all("finish")[0]?.entry).toMatchObject({ step: 3, output: 3 });
  });

  it("that failed says so with its step", async () => {
    const failing = `import { action, defineWorkflow, idempotentEffect } from "holdpoint";
const fail = action({ effect: idempotentEffect("fail"), run: () => { throw new Error("no"); } });
const mend = action({ effect: idempotentEffect("mend"), run: () => "mended" });
export default defineWorkflow({
  name: "failing", startAt: "fail", nodes: { fail, mend },
  edges: [{ from: "fail", switch: { on: "$result.outcome", cases: { ok: "mend", failed: "mend" } } }],
});
`;
    folder.put("w.workflow.ts", failing);
    const { port, server } = connect();
    server.startAt = "fail";
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toMatchObject({ reason: "completed" });
    expect(server.all("advance")).toMatchObject([
      { settle: { outcome: "rejected" }, entries: [{ outcome: "failed" }], reserve: { effectType: "mend" } },
    ]);
  });
});
