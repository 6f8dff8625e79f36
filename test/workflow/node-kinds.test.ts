// Shell, agent, notify, checkpoint, updates and settings routes, over the test kit's host.
import { describe, expect, it } from "vitest";
import { longestStepText } from "../../src/contracts/agent-step.ts";
import { AGENT } from "../../src/contracts/limits.ts";
import {
  agentTurns,
  NO_SUBMISSION,
  runWorkflow,
  startWorkflow,
  type TestOptions,
  type TestRun,
} from "../../src/testing/index.ts";
import { jsonCandidates } from "../../src/workflow/engine/json-text.ts";
import {
  action,
  agent,
  allowSettingsPath,
  assistantMessage,
  checkpoint,
  compute,
  controlLoop,
  decision,
  decisionEdge,
  defineWorkflow,
  evidence,
  idempotentEffect,
  manualEffect,
  notify,
  outcomeUnknown,
  settingsRoute,
  shell,
  workflowSettings,
  type WorkflowNode,
} from "../../src/workflow/index.ts";

/** One node, and where each outcome leads. */
function single(node: WorkflowNode): ReturnType<typeof defineWorkflow> {
  const ended = compute({
    run: ({ results }) => ({ outcome: results["node"]?.outcome, error: results["node"]?.error?.kind ?? null }),
  });
  return defineWorkflow({
    name: "single",
    startAt: "node",
    nodes: { node, ended, fine: compute({ run: ({ outputs }) => outputs["node"] }) },
    edges: [
      { from: "node", switch: { on: "$result.outcome", cases: { ok: "fine", failed: "ended", timed_out: "ended" } } },
    ],
  });
}
const run = (node: WorkflowNode, options?: TestOptions): Promise<TestRun> => runWorkflow(single(node), options);

describe("shell", () => {
  const build = shell({ exec: () => ({ command: "make", args: ["all"] }) });

  it("gives its result, fails on an exit code, and says how", async () => {
    expect((await run(build, { shell: { node: { stdout: "done" } } })).output).toMatchObject({
      exitCode: 0,
      stdout: "done",
      truncated: [],
    });
    const failed = await run(build, { shell: { node: { exitCode: 3, stderr: "no rule" } } });
    expect(failed.output).toEqual({ outcome: "failed", error: "commandFailed" });
    expect(failed.result("node")?.error).toMatchObject({
      message: 'The command of node "node" ended with exit code 3.',
      details: { stderr: "no rule" },
    });
    const lost = await run(build, { shell: { node: { exitCode: null, startError: "ENOENT" } } });
    expect(lost.result("node")?.error?.message).toContain("could not be started: ENOENT");
  });

  it("is an effect: what is done is recorded first, and after a crash a person says what happened", async () => {
    let crashed = false;
    const first: TestRun = startWorkflow(single(build), {
      shell: () => {
        if (!crashed) first.crash();
        crashed = true;
        return {};
      },
    });
    await first.settled();
    expect(first.status).toBe("parked");
    first.assertEffect("node", { state: "ambiguous", request: { command: "make", args: ["all"] } });
    await first.settleEffect("node", "retry");
    expect(first.status).toBe("completed");
  });

  it("is stopped when its time is over, and is gone before the next node starts", async () => {
    let gone = false;
    const slow = shell({ timeoutMs: 1_000, exec: () => ({ command: "sleep" }) });
    const started = startWorkflow(
      defineWorkflow({
        name: "w",
        startAt: "node",
        nodes: { node: slow, next: compute({ run: () => gone }) },
        edges: [
          { from: "node", switch: { on: "$result.outcome", cases: { timed_out: "next", ok: "next", failed: "next" } } },
        ],
      }),
      {
        shell: async (_spec, { signal }) => {
          await new Promise((resolve) => signal.addEventListener("abort", resolve));
          gone = true;
          return {};
        },
      },
    );
    await started.clock.advance(999);
    expect(started.order).toEqual([]);
    await started.clock.advance(1);
    await started.settled();
    expect(started.steps[0]).toMatchObject({ outcome: "timed_out" });
    expect(started.output).toBe(true);
  });

  it("a command that asks for thirty minutes is not cut short by the default limit", async () => {
    const sleep = shell({
      effect: idempotentEffect("sleep"),
      exec: () => ({ command: "sleep", timeoutMs: 31 * 60_000 }),
    });
    const started = startWorkflow(single(sleep), {
      shell: async (_spec, { clock, signal }) => (await clock.sleep(30 * 60_000, signal), {}),
    });
    await started.clock.advance(30 * 60_000);
    await started.settled();
    expect(started.steps[0]).toMatchObject({ outcome: "ok" });
    const late = startWorkflow(single(sleep), {
      shell: async (_spec, { clock, signal }) => (await clock.sleep(32 * 60_000, signal), {}),
    });
    await late.clock.advance(31 * 60_000);
    await late.settled();
    expect(late.output).toEqual({ outcome: "timed_out", error: "nodeTimedOut" });
  });

  it("lines become updates; one that cannot be parsed or is refused changes nothing", async () => {
    const told = shell({
      exec: () => ({ command: "x" }),
      updates: {
        streams: ["stderr"],
        parseLine: (line) => {
          if (line === "bad") throw new Error("bad line");
          return { type: line === "wrong" ? "WRONG" : "line", key: "k", data: { line } };
        },
      },
    });
    const done = await run(told, {
      shell: (_spec, { line }) => {
        for (const text of ["one", "bad", "wrong", "two"]) line(text, "stderr");
        line("not read", "stdout");
        return {};
      },
    });
    expect(done.updates.map(({ data }) => data)).toEqual([{ line: "one" }, { line: "two" }]);
    expect(done.status).toBe("completed");
  });

  it("refuses a command of a wrong form before anything is recorded", async () => {
    const wrong = await run(shell({ exec: () => ({ command: "x", args: [1] as never }) }), { shell: () => ({}) });
    expect(wrong.effects).toEqual([]);
    expect(wrong.result("node")?.error?.message).toContain("args that are not all text");
  });
});

describe("actions without an effect contract", () => {
  const slow = (effect?: ReturnType<typeof manualEffect>) =>
    action({
      ...(effect === undefined ? {} : { effect }),
      timeoutMs: 1_000,
      run: () => new Promise<never>(() => undefined),
    });

  it("time out as an outcome that can be routed", async () => {
    const undeclared = startWorkflow(single(slow()));
    await undeclared.clock.advance(1_000);
    expect((await undeclared.settled()).output).toEqual({ outcome: "timed_out", error: "nodeTimedOut" });
    undeclared.assertEffect("node", { state: "rejected" });
  });

  it("are in doubt after a crash, as a declared manual effect is after its time too", async () => {
    const declared = startWorkflow(single(slow(manualEffect("letter"))));
    await declared.clock.advance(1_000);
    expect((await declared.settled()).status).toBe("parked");
    const crashed = startWorkflow(single(slow()));
    await crashed.clock.advance(1);
    crashed.crash();
    expect((await crashed.settled()).status).toBe("parked");
    crashed.assertEffect("node", { state: "ambiguous" });
    const unknown = await run(
      action({
        run: () => {
          throw outcomeUnknown("the line broke");
        },
      }),
    );
    expect(unknown.status).toBe("parked");
  });

  it("what an action leaves running ends with it", async () => {
    let stopped = false;
    const leaving = action({ run: (context) => void context.runCommand({ command: "server" }) });
    const done = await run(leaving, {
      shell: async (_spec, { signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        stopped = true;
        return {};
      },
    });
    expect(done.status).toBe("completed");
    expect(stopped).toBe(true);
  });
});

describe("updates of an action", () => {
  it("carry on by themselves, are refused in excess, and after the attempt is over", async () => {
    let late: (() => Promise<unknown>) | undefined;
    const refusals: string[] = [];
    const busy = action({
      effect: idempotentEffect("busy"),
      run: async ({ publishUpdate }) => {
        late = () => publishUpdate({ type: "n", key: "k", data: {} });
        for (let i = 0; i < 102; i++) {
          await publishUpdate({ type: "n", key: "k", data: { i } }).catch((error: unknown) =>
            refusals.push((error as { kind: string }).kind),
          );
        }
      },
    });
    const done = await run(busy);
    expect(done.updates).toHaveLength(100);
    expect(done.updates.map(({ data }) => (data as { i: number }).i)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(refusals).toEqual(["updateRefused", "updateRefused"]);
    await expect(late?.()).rejects.toMatchObject({ kind: "updateRefused", message: expect.stringContaining("over") });
  });

  it("from an attempt that timed out are fenced", async () => {
    let refusal: unknown;
    const slow = action({
      timeoutMs: 1_000,
      run: async ({ publishUpdate, signal }) => {
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
        refusal = await publishUpdate({ type: "n", key: "k", data: {} }).catch((error: unknown) => error);
      },
    });
    const started = startWorkflow(single(slow));
    await started.clock.advance(1_000);
    await started.settled();
    expect(refusal).toMatchObject({ kind: "updateRefused" });
    expect(started.updates).toEqual([]);
  });
});

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

describe("notifications and checkpoints", () => {
  it("a notification is stored once, also when its step is repeated", async () => {
    let crashed = false;
    const workflow = defineWorkflow({
      name: "w",
      startAt: "tell",
      nodes: {
        tell: notify({ kind: "progress", message: ({ input }) => `hello ${input}`, audience: "ops" }),
        act: action({
          effect: idempotentEffect("x"),
          run: () => {
            if (!crashed) {
              crashed = true;
              started.crash();
            }
            return 1;
          },
        }),
        again: notify({ kind: "final", message: "bye" }),
      },
      edges: [
        { from: "tell", to: "act" },
        { from: "act", to: "again" },
      ],
    });
    const started: TestRun = startWorkflow(workflow, { input: "you" });
    await started.settled();
    expect(started.notifications.map(({ audience, index, kind, message }) => [kind, message, audience, index])).toEqual(
      [
        ["progress", "hello you", "ops", 0],
        ["final", "bye", undefined, 1],
      ],
    );
    expect(started.output).toEqual({ kind: "final", message: "bye", index: 1 });
    expect((await run(notify({ kind: "final", message: () => 7 as never }))).result("node")?.error?.message).toContain(
      "is number; it is text",
    );
  });

  it("a checkpoint waits for any JSON, and its answer is its output", async () => {
    const asked = await run(checkpoint({ run: ({ input }) => ({ shown: input }), summary: () => "Look" }), {
      input: "this",
    });
    expect(asked.status).toBe("waiting");
    expect(asked.pending).toEqual({
      kind: "checkpoint",
      nodeId: "node",
      visit: 1,
      content: { shown: "this" },
      summary: "Look",
    });
    await asked.answer([1, { a: null }]);
    expect(asked.output).toEqual([1, { a: null }]);
    await expect(asked.answer(2)).rejects.toMatchObject({ kind: "runState" });
  });
});

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

describe("a host that cannot do something", () => {
  it("fails the nodes that need it, by name", async () => {
    const { execute } = await import("./memory-host.ts");
    const { end } = await execute(
      defineWorkflow({ name: "w", startAt: "a", nodes: { a: notify({ kind: "final", message: "x" }) } }),
    );
    expect(end).toMatchObject({
      end: {
        status: "failed",
        error: { kind: "unsupportedNode", message: expect.stringContaining('Notification "a"') },
      },
    });
  });
});
