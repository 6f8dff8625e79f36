// Agent nodes and the decisions of agents: what counts as a submission, reminders, limits, prompts.
import { describe, expect, it } from "vitest";
import { longestStepText } from "../../src/contracts/agent-step.ts";
import { AGENT } from "../../src/contracts/limits.ts";
import { agentTurns, NO_SUBMISSION, runWorkflow, startWorkflow, type TestRun } from "../../src/testing/index.ts";
import { jsonCandidates } from "../../src/workflow/engine/json-text.ts";
import {
  agent,
  assistantMessage,
  compute,
  controlLoop,
  decision,
  decisionEdge,
  defineWorkflow,
  evidence,
  type WorkflowNode,
} from "../../src/workflow/index.ts";
import { run, single } from "./single.ts";

describe("agents", () => {
  const asks = (validate?: (value: any) => unknown): WorkflowNode =>
    agent({
      prompt: "Do it.",
      expectedOutput: "JSON: {n: number}",
      ...(validate === undefined ? {} : { validate }),
    }) as WorkflowNode;
  const strict = (value: unknown): unknown => {
    if (typeof (value as { n?: unknown } | null)?.n !== "number") throw new Error("n is no number");
    return value;
  };

  it.each([
    ["a value", { n: 1 }],
    ["JSON as text", '{"n": 1}'],
    ["a code block", '```json\n{"n": 1}\n```'],
    ["words around a block", 'Here it is:\n```\n{"n": 1}\n```\nDone.'],
    ["words around JSON", 'I tried {"x": 2} and [3], so the result is {"n": 1}.'],
    ["braces in strings", 'See "{": {"n": 1, "text": "a } b"} – that is it.'],
  ])("accept %s", async (_name, submitted) => {
    const done = await run(asks(strict), { agents: { node: submitted } });
    expect(done.output).toMatchObject({ n: 1 });
  });

  it("without a check a text stays a text unless all of it is JSON", async () => {
    expect((await run(asks(), { agents: { node: "Use {braces} and [1]." } })).output).toBe("Use {braces} and [1].");
    expect((await run(asks(), { agents: { node: " [1] " } })).output).toEqual([1]);
  });

  it("look at no more than 64 places", () => {
    const text = "{ ".repeat(10_000);
    expect([...jsonCandidates(text)]).toEqual([]);
    expect([...jsonCandidates(`${"{ ".repeat(62)}{"n":1}`)]).toHaveLength(1);
    expect([...jsonCandidates(`${"{ ".repeat(64)}{"n":1}`)]).toHaveLength(0);
  });

  it("are reminded twice of a missing submission and then fail", async () => {
    const done = await run(asks(), { agents: { node: agentTurns(NO_SUBMISSION) } });
    expect(done.output).toEqual({ outcome: "failed", error: "missingSubmission" });
    expect(done.prompts.map(({ reason }) => reason)).toEqual(["initial", "reminder", "reminder"]);
  });

  it("are told why a submission was refused, and may correct it", async () => {
    const done = await run(asks(strict), { agents: { node: agentTurns({ n: "one" }, { n: 1 }) } });
    expect(done.output).toEqual({ n: 1 });
    const never = await run(asks(strict), { agents: { node: { n: "one" } } });
    expect(never.result("node")?.error?.message).toContain("n is no number");
  });

  it("have a time limit that a function may compute, or none", async () => {
    const hangs = { node: async (_step: unknown, { clock }: any) => clock.sleep(3_600_000) };
    const limited = startWorkflow(
      single(agent({ prompt: "x", expectedOutput: "y", timeoutMs: ({ input }) => input.ms })),
      { input: { ms: 5_000 }, agents: hangs },
    );
    await limited.clock.advance(5_000);
    expect((await limited.settled()).output).toEqual({ outcome: "timed_out", error: "nodeTimedOut" });
    const unlimited = startWorkflow(single(agent({ prompt: "x", expectedOutput: "y", timeoutMs: null })), {
      agents: hangs,
    });
    await unlimited.clock.advance(3_599_999);
    expect(unlimited.order).toEqual([]);
    await unlimited.clock.advance(1);
    expect((await unlimited.settled()).status).toBe("completed");
  });

  it("work in the folder that the author names, which is absolute; without one, where the executor says", async () => {
    const folders: unknown[] = [];
    const look = (step: object): object => (folders.push("cwd" in step ? step.cwd : "the executor's"), { n: 1 });
    const at = (cwd?: string | (() => string)): WorkflowNode =>
      agent({ prompt: "Do it.", expectedOutput: "JSON", ...(cwd === undefined ? {} : { cwd }) }) as WorkflowNode;
    for (const node of [at(), at("/srv/shop"), at(() => "/srv/work")]) await run(node, { agents: { node: look } });
    expect(folders).toEqual(["the executor's", "/srv/shop", "/srv/work"]);
    const wrong = await run(
      at(() => "shop"),
      { agents: { node: look } },
    );
    expect(wrong.result("node")?.error?.message).toContain("it is an absolute path");
    expect(folders).toHaveLength(3);
  });

  it("are resumed after a crash with a text that says so", async () => {
    let crashed = false;
    const started: TestRun = startWorkflow(single(asks()), {
      agents: {
        node: () => {
          if (crashed) return { n: 2 };
          crashed = true;
          started.crash();
          return { n: 1 };
        },
      },
    });
    await started.settled();
    expect(started.output).toEqual({ n: 2 });
    expect(started.prompts.map(({ reason }) => reason)).toEqual(["initial", "resumed"]);
    expect(started.prompts[1]?.text).toContain("was interrupted");
  });

  it("give visible text within its limit", async () => {
    const writes = agent({ prompt: "x", expectedOutput: assistantMessage({ maxChars: 5 }) });
    expect((await run(writes, { agents: { node: '{"a"' } })).output).toBe('{"a"');
    expect((await run(writes, { agents: { node: "too long" } })).result("node")?.error?.message).toContain(
      "the limit is 5",
    );
  });

  it("never get a prompt above the limit; evidence keeps it below, and says what was left out", async () => {
    const huge = {
      text: "x".repeat(10_000_000),
      list: Array.from({ length: 5_000 }, (_, i) => ({ i, deep: { a: { b: { c: { d: { e: { f: { g: 1 } } } } } } } })),
    };
    const text = evidence(huge);
    expect(text.length).toBeLessThanOrEqual(48_000);
    expect(JSON.parse(text)).toMatchObject({
      text: { $evidence: "holdpoint.evidence-ref.v1", path: "$.text", kind: "text", size: 10_000_000 },
    });
    const many = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`field${i}`, "y".repeat(3_900)]));
    expect(evidence(many).length).toBeLessThanOrEqual(48_000);
    expect(evidence("short")).toBe("short");
    expect(evidence("z".repeat(10_000)).length).toBeLessThanOrEqual(4_000);
    const written = await run(agent({ prompt: () => JSON.stringify(huge), expectedOutput: "x" }), {
      agents: { node: 1 },
    });
    expect(written.result("node")?.error).toMatchObject({
      kind: "promptTooLarge",
      message: expect.stringContaining(`the limit is ${AGENT.promptChars}`),
    });
    expect(written.prompts).toEqual([]);
  });

  it("have a budget that counts everything a model is told, to the character", async () => {
    const contract = { kind: "submit", expectedOutput: "x" } as const;
    const room = AGENT.promptChars - longestStepText({ contract, nodeId: "node", prompt: "" });
    const prompted = async (chars: number): Promise<number[]> => {
      const done = await run(agent({ prompt: "p".repeat(chars), expectedOutput: "x" }), { agents: { node: 1 } });
      return done.prompts.map(({ text }) => text.length);
    };
    expect(await prompted(room)).toEqual([expect.any(Number)]);
    expect(await prompted(room + 1)).toEqual([]);
  });
});

describe("decisions of agents", () => {
  const choices = { go: "it is time", wait: "it is not" } as const;
  it("accept only a choice, in the field that was named", async () => {
    const node = decision({ choices, field: "next", prompt: "What now?" });
    const workflow = defineWorkflow({
      name: "w",
      startAt: "node",
      nodes: { node, go: compute({ run: () => "went" }), wait: compute({ run: () => "waited" }) },
      edges: [decisionEdge({ from: "node", choices, field: "next", cases: { go: "go", wait: "wait" } })],
    });
    const done = await runWorkflow(workflow, {
      agents: { node: agentTurns({ route: "go" }, { next: "run" }, 'So: {"next":"wait","why":"early"}') },
    });
    expect(done.output).toBe("waited");
    expect(done.result("node")?.output).toEqual({ next: "wait", why: "early" });
    expect(done.prompts[0]?.text).toContain("- go: it is time");
  });

  it("refuse sets and edges that do not fit", () => {
    const bad = (define: () => unknown, text: string): void => expect(define).toThrow(text);
    bad(() => decision({ choices: [], prompt: "x" }), "at least one");
    bad(() => decision({ choices: ["a", "a"], prompt: "x" }), "twice");
    bad(() => decision({ choices: ["a"], field: "a.b", prompt: "x" }), "plain name");
    bad(() => decisionEdge({ from: "x", choices: ["a", "b"], cases: { a: "y" } as never }), "no case for b");
    bad(() => decisionEdge({ from: "x", choices: ["a"], cases: { a: "y", c: "y" } as never }), "a case for c");
  });

  it("a control loop refuses what could not come back or end", () => {
    const bad = (routes: object, text: string): void =>
      expect(() => controlLoop({ decide: "d", returnTo: "o", routes: routes as never })).toThrow(text);
    bad({}, "no routes");
    bad({ a: { to: "x" } }, "neither returns nor is terminal");
    bad({ a: { to: "x", terminal: true, returns: ["x"] } }, "terminal route");
    bad({ a: { to: "x", returns: ["x"] }, b: { to: "y", returns: ["x"] } }, "return twice");
    bad({ a: { to: "x", returns: ["d"] } }, "deciding node itself");
    bad({ cancelled: { to: "x", terminal: true } }, '"cancelled"');
    bad({ " ": { to: "x", terminal: true } }, "without a name");
    expect(
      controlLoop({
        decide: "d",
        returnTo: "o",
        routes: { a: { to: "x", returns: ["x"] }, end: { to: "z", terminal: true } },
      }),
    ).toEqual({
      choices: ["a", "end"],
      edges: [
        { from: "d", switch: { on: "$.route", cases: { a: "x", end: "z" } } },
        { from: "x", to: "o" },
      ],
    });
  });
});
