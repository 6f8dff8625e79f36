// The runner's side of the conversation: what is sent when, how much is in flight, and how it ends.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ADVANCE, WIRE } from "../../src/contracts/limits.ts";
import { runSession } from "../../src/runner/session.ts";
import { connect } from "./fake-server.ts";
import { makeFolder, oneNode, type Folder } from "./folder.ts";

let folder: Folder;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

/** A loop of `count` compute steps and an end. */
function loop(count: number, output = `"x"`): string {
  return `import { compute, defineWorkflow } from "holdpoint";
export default defineWorkflow({
  name: "loop", startAt: "a", maxSteps: 100_000,
  nodes: {
    a: compute({ run: ({ outputs }) => { const n = (outputs.a?.n ?? 0) + 1; return { n, again: n < ${count}, data: ${output} }; } }),
    b: compute({ run: ({ outputs, state }) => [outputs.a.n, state.steps.length] }),
  },
  edges: [{ from: "a", switch: { on: "$.again", cases: { true: "a", false: "b" } } }],
});
`;
}

const deciding = `import { choice, compute, defineHumanChoices, defineWorkflow, humanDecision } from "holdpoint";
const choices = defineHumanChoices({ yes: choice({ label: "Yes" }) });
export default defineWorkflow({
  name: "ask", startAt: "a",
  nodes: {
    a: compute({ run: () => 1 }),
    ask: humanDecision({ audience: "ops", choices, request: () => ({ title: "T", subject: 1, presentation: { summary: "S", blocks: [] } }) }),
    b: compute({ run: ({ outputs }) => outputs.ask.choice }),
  },
  edges: [{ from: "a", to: "ask" }, { from: "ask", to: "b" }],
});
`;

describe("a conversation", () => {
  it("begins with ready, sends the steps in frames of at most 64, and ends with finish when all are durable", async () => {
    folder.put("w.workflow.ts", loop(1_000));
    const { port, server } = connect();
    let durable = -1;
    server.respond = (frame) => {
      if (frame.type === "finish") durable = server.acknowledged;
      return server.playAlong(frame);
    };
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toEqual({ kind: "ended", reason: "completed", cwd: folder.path });
    const advances = server.all("advance");
    let next = 0;
    for (const { entries, first } of advances) {
      expect(first).toBe(next);
      expect(entries.length).toBeLessThanOrEqual(ADVANCE.entriesPerFrame);
      expect(entries.map(({ step }) => step)).toEqual(entries.map((_entry, index) => first + index));
      next += entries.length;
    }
    expect(next).toBe(1_000);
    // Far fewer frames than steps: they are gathered.
    expect(advances.length).toBeLessThan(100);
    expect(durable).toBe(999);
    expect(server.all("finish")[0]?.entry).toMatchObject({
      step: 1_000,
      nodeId: "b",
      outcome: "ok",
      next: null,
      output: [1_000, 1_000],
    });
    // Whether the process leaves is decided after this.
    expect(server.frames.map(({ type }) => type).filter((type) => type !== "advance")).toEqual(["ready", "finish"]);
  });

  it("never has more than 256 steps in flight", async () => {
    folder.put("w.workflow.ts", loop(1_000));
    const { port, server } = connect();
    let sent = 0;
    let most = 0;
    // Acknowledges one frame only when nothing more comes: the runner must have stopped by itself.
    const held: (() => void)[] = [];
    server.respond = (frame) => {
      if (frame.type !== "advance") return server.playAlong(frame);
      sent += frame.entries.length;
      most = Math.max(most, sent - server.acknowledged - 1);
      held.push(() => server.send(server.ack(frame)));
      if (sent - server.acknowledged - 1 >= ADVANCE.unackedSteps || sent >= 1_000)
        for (const go of held.splice(0)) go();
      return [];
    };
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toMatchObject({ reason: "completed" });
    expect(most).toBe(ADVANCE.unackedSteps);
  });

  it("large outputs travel in frames below the limit, one megabyte in flight", async () => {
    folder.put("w.workflow.ts", loop(8, `"x".repeat(500_000)`));
    const { port, server } = connect();
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toMatchObject({ reason: "completed" });
    for (const frame of server.all("advance")) expect(JSON.stringify(frame).length).toBeLessThan(WIRE.frameBytes);
    expect(server.all("advance").flatMap(({ entries }) => entries)).toHaveLength(8);
  });

  it("goes on with the state it is handed", async () => {
    folder.put("w.workflow.ts", loop(5));
    const { port, server } = connect();
    server.respond = (frame) => {
      if (frame.type !== "ready") return server.playAlong(frame);
      return [
        { type: "state.results", items: [{ nodeId: "a", outcome: "ok", output: { n: 3, again: true } }] },
        {
          type: "state.steps",
          first: 0,
          steps: [
            ["a", "ok"],
            ["a", "ok"],
          ],
        },
        { type: "state.steps", first: 2, steps: [["a", "ok"]] },
        { type: "go", position: { nodeId: "a", step: 3, visit: 4, interrupted: true }, visits: { a: 4 } },
      ];
    };
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts", { command: "resume" }));
    await session;
    expect(server.all("finish")[0]?.entry).toMatchObject({ step: 5, output: [5, 5] });
  });

  it("does refused steps again from where it is told, with what was before them", async () => {
    folder.put("w.workflow.ts", loop(200));
    const { port, server } = connect();
    let refused = false;
    let expected = 0;
    server.respond = (frame) => {
      if (frame.type !== "advance") return server.playAlong(frame);
      // Frames that were on their way when the refusal was sent.
      if (frame.first !== expected) return [];
      if (!refused && frame.first > 0) {
        refused = true;
        const position = { nodeId: "a", step: expected, visit: expected + 1, interrupted: false };
        return [{ type: "rewind", from: expected, reason: "test", position, visits: { a: expected + 1 } }];
      }
      expected += frame.entries.length;
      return [server.ack(frame)];
    };
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toMatchObject({ reason: "completed" });
    expect(refused).toBe(true);
    expect(server.all("finish")[0]?.entry).toMatchObject({ step: 200, output: [200, 200] });
  });

  it("parks at a decision once the server has taken it", async () => {
    folder.put("w.workflow.ts", deciding);
    const { port, server } = connect();
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toEqual({ kind: "ended", reason: "parked: decision", cwd: folder.path });
    expect(server.all("decision")).toMatchObject([
      { step: 1, nodeId: "ask", request: { audience: "ops", title: "T" } },
    ]);
    expect(server.frames.findIndex(({ type }) => type === "advance")).toBeLessThan(
      server.frames.findIndex(({ type }) => type === "decision"),
    );
  });

  it("a decision that the server refuses fails its node with the reason", async () => {
    folder.put("w.workflow.ts", deciding);
    const { port, server } = connect();
    const error = { code: "HP202", kind: "audienceUnknown", message: "no ops", remedy: "add it" };
    server.respond = (frame) =>
      frame.type === "decision"
        ? [{ type: "reply", messageId: frame.messageId, ok: false, error }]
        : server.playAlong(frame);
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toEqual({ kind: "ended", reason: "failed", cwd: folder.path });
    expect(server.all("finish")[0]?.entry).toMatchObject({ nodeId: "ask", outcome: "failed", error, next: null });
  });
});

describe("ends of a conversation", () => {
  it("a workflow that cannot be loaded says why", async () => {
    folder.put("w.workflow.ts", "throw new Error('no');");
    const { port, server } = connect();
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    expect(await session).toMatchObject({ kind: "ended", reason: "load failed" });
    expect((await server.until("loadFailed")).error.kind).toBe("workflowLoad");
  });

  it("a changed source parks the run and executes nothing", async () => {
    const path = folder.put(
      "w.workflow.ts",
      oneNode("() => 1", `import { writeFileSync } from "node:fs"; writeFileSync("executed", "");`),
    );
    const { port, server } = connect();
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts", { sources: [{ path, sha256: "0".repeat(64) }] }));
    expect(await session).toMatchObject({ reason: "source changed" });
    expect(await server.until("park")).toMatchObject({ reason: "workflowSourceChanged", error: { details: { path } } });
    expect(existsSync(join(folder.path, "executed"))).toBe(false);
  });

  const hanging = oneNode(
    `({ signal }) => new Promise((resolve) => signal.addEventListener("abort", () => { globalThis.abortedByTest = true; resolve(1); }))`,
  );

  it("a stop aborts the node at work and reports no step", async () => {
    folder.put("w.workflow.ts", hanging);
    const { port, server } = connect();
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    await server.until("ready");
    // After `go`, which was sent as the answer to ready.
    server.send({ type: "stop", reason: "paused" });
    expect(await session).toEqual({ kind: "ended", reason: "stopped: paused" });
    await server.until("exiting");
    expect(server.frames.map(({ type }) => type)).toEqual(["ready", "exiting"]);
    expect((globalThis as { abortedByTest?: boolean }).abortedByTest).toBe(true);
  });

  it("a runner whose claim was lost says nothing more", async () => {
    folder.put("w.workflow.ts", hanging);
    const { port, server } = connect();
    const session = runSession(port);
    server.send(folder.launch("w.workflow.ts"));
    await server.until("ready");
    server.send({ type: "claimLost" });
    expect(await session).toEqual({ kind: "claimLost" });
    await new Promise((resolve) => setImmediate(resolve));
    expect(server.frames.map(({ type }) => type)).toEqual(["ready"]);
  });

  it("frames that do not fit the conversation break it", async () => {
    folder.put("w.workflow.ts", hanging);
    for (const frame of [
      { type: "go", position: { nodeId: "a", step: 0, visit: 1, interrupted: false }, visits: {} },
      { type: "reply", messageId: 9, ok: true },
      { type: "state.steps", first: 3, steps: [] },
    ] as const) {
      const { port, server } = connect();
      const session = runSession(port);
      server.send(frame as never);
      expect(await session).toMatchObject({ kind: "broken", error: { kind: "protocolRejected" } });
    }
  });
});
