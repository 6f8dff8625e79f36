// The built-in monitor, case by case of its specification: what it does is scripted, time stands still until the test moves it.
import monitor from "holdpoint/builtins/monitor";
import { each, FakeClock, startWorkflow, type TestOptions, type TestRun } from "holdpoint/testing";
import { describe, expect, it } from "vitest";

type TestEvent = TestRun["events"][number];

const MINUTE = 60_000;
const START = Date.UTC(2030, 0, 1, 8);

type Seen = Record<string, unknown>;
const seen = (more: Seen = {}): Seen => ({
  route: "wait",
  goalState: "incomplete",
  workState: "running",
  targetStateId: "state-1",
  observation: "The checks of PR 123 run.",
  report: "Nothing new: the checks run.",
  reason: "Nothing is to be done.",
  ...more,
});
const stop = seen({ route: "stop", goalState: "complete", observation: "Merged.", report: "PR 123 was merged." });

const acting = (action: Seen, more: Seen = {}): Seen =>
  seen({
    route: "act",
    workState: "failed",
    reason: "The job failed.",
    action: { kind: "recover", target: "job 7", request: "Start job 7 again.", cost: "none", ...action },
    ...more,
  });

const TASK = "Monitor PR 123. You may spend up to 5 dollars to restart the batch job.";

interface Playing {
  readonly run: TestRun;
  /** Lets so many minutes pass. */
  pass(minutes: number): Promise<void>;
}

function play(observations: readonly unknown[], options: Omit<TestOptions, "input"> & { input?: Seen } = {}): Playing {
  const { agents, input, ...rest } = options;
  const clock = new FakeClock(START);
  const run = startWorkflow(monitor, {
    clock,
    ...rest,
    input: { task: TASK, everyMinutes: 30, ...input },
    agents: {
      observe: each(observations),
      act: { outcome: "succeeded", evidence: "Job 7 runs." },
      ...agents,
    },
  });
  return { run, pass: (minutes) => clock.advance(minutes * MINUTE) };
}

const rounds = (run: TestRun): string => run.order.join(" ");
const CHECK = "observe guard estimate publish_progress report decide";
const told = (run: TestRun): string[] => run.notifications.map(({ message }) => message);

describe("a monitor", () => {
  it("checks at once, sleeps for the interval, and checks again", async () => {
    const { pass, run } = play([seen(), stop]);
    await pass(0);
    expect(rounds(run)).toBe(`${CHECK} schedule`);
    expect(run.pending).toMatchObject({
      kind: "sleep",
      nodeId: "sleep",
      wakeAt: START + 30 * MINUTE,
      reason: "The next check",
    });
    await pass(29);
    expect(rounds(run)).toBe(`${CHECK} schedule`);
    await pass(1);
    expect(rounds(run)).toBe(`${CHECK} schedule sleep ${CHECK} finish`);
    expect([run.status, run.output]).toEqual([
      "completed",
      {
        stoppedBy: "goal",
        reason: "Nothing is to be done.",
        checks: 2,
        goalState: "complete",
        workState: "running",
        observation: "Merged.",
        report: "PR 123 was merged.",
      },
    ]);
  });

  it("reports after every check, passively and once, and never again at its end", async () => {
    const { pass, run } = play([seen(), stop]);
    await pass(30);
    expect(told(run)).toEqual([
      "Nothing new: the checks run.\n\nNext check: 2030-01-01 08:30 UTC",
      "PR 123 was merged.\n\nThe monitor stops after 2 checks. Nothing is to be done.",
    ]);
    expect(run.notifications.every(({ kind }) => kind === "progress")).toBe(true);
    // Two observations are all that a model was asked for.
    expect(run.prompts).toHaveLength(2);
  });

  it("stops by its condition, which the model sees, and says why", async () => {
    const { pass, run } = play([seen({ route: "stop", reason: "It was closed." })], {
      input: { stopWhen: "It is closed." },
    });
    await pass(0);
    expect(run.prompts[0]?.text).toContain("When it ends:\nIt is closed.");
    expect(run.output).toMatchObject({ stoppedBy: "stopWhen", reason: "It was closed.", checks: 1 });
  });

  it("ends at its limit of checks, whatever the model wants", async () => {
    const { pass, run } = play([seen(), seen(), acting({})], { input: { maxChecks: 3 } });
    await pass(60);
    expect(run.output).toMatchObject({ stoppedBy: "maxChecks", reason: "This was check 3 of 3.", checks: 3 });
    expect(run.order).not.toContain("act");
  });

  it.each([
    ["nothing", {}],
    ["a fifth field", { task: "x", repair: true }],
    ["a way to report", { task: "x", reportWhen: "always" }],
    ["an audience", { task: "x", audience: "operators" }],
    ["a time limit", { task: "x", checkTimeoutMinutes: 5 }],
    ["less than a minute", { task: "x", everyMinutes: 0.5 }],
    ["more than a day", { task: "x", everyMinutes: 1_441 }],
    ["too many checks", { task: "x", maxChecks: 1_001 }],
    ["a task that is too long", { task: "x".repeat(8_001) }],
  ])("refuses an input with %s", (_what, input) => {
    expect(() => startWorkflow(monitor, { input })).toThrow(expect.objectContaining({ kind: "inputInvalid" }) as Error);
  });

  it("waits 30 minutes and up to 1,000 checks where nothing is said, until the user asks", async () => {
    const { pass, run } = play([seen(), stop], { input: { everyMinutes: undefined } });
    await pass(0);
    expect(run.pending?.wakeAt).toBe(START + 30 * MINUTE);
    expect(run.prompts[0]?.text).toContain("Stop only when the user asks for it.");
    expect(run.prompts[0]?.text).toContain("check 1 of at most 1000");
  });

  it("is stopped by no time limit while it sleeps for a day", async () => {
    const { pass, run } = play([seen(), stop], { input: { everyMinutes: 1_440 } });
    await pass(1_439);
    expect(run.status).toBe("waiting");
    await pass(1);
    expect(run.status).toBe("completed");
  });

  it("counts the interval from the check, not from the end of what came after it", async () => {
    const { pass, run } = play([seen(), seen(), stop], {
      agents: {
        observe: async (_step: unknown, { clock }: { clock: FakeClock }) => (await clock.sleep(10 * MINUTE), seen()),
      },
    });
    await pass(10);
    expect(run.pending?.wakeAt).toBe(START + 40 * MINUTE);
    expect(run.updates.filter(({ type }) => type === "monitor.schedule")).toMatchObject([
      {
        key: "next-check",
        data: {
          schema: "holdpoint.monitor-schedule.v1",
          lastCheckAt: START + 10 * MINUTE,
          nextCheckAt: START + 40 * MINUTE,
          everyMinutes: 30,
        },
      },
    ]);
  });

  it("goes on after a check that failed, and ends when three failed in a row", async () => {
    const failing = (): never => {
      throw new Error("the model is away");
    };
    const { pass, run } = play([failing, failing, seen(), failing, failing, failing]);
    await pass(30);
    expect(told(run)[0]).toContain("The check failed: ");
    await pass(120);
    expect(run.output).toMatchObject({ stoppedBy: "failedChecks", checks: 6 });
  });

  it("hands the last observation to the next check", async () => {
    const { pass, run } = play([seen(), stop]);
    await pass(30);
    expect(run.prompts[0]?.text).not.toContain("The last observation:");
    expect(run.prompts[1]?.text).toContain("The checks of PR 123 run.");
  });

  it("survives a crash beside every node without a second report or action", async () => {
    for (const at of ["guard", "estimate", "publish_progress", "report", "decide", "act", "schedule"]) {
      const { pass, run } = play([acting({}), seen({ targetStateId: "state-2" }), stop]);
      let crashes = 0;
      const events = run.events as TestEvent[];
      const push = events.push.bind(events);
      events.push = (...more) => {
        const [event] = more as { type?: string; nodeId?: string }[];
        const done = push(...more);
        if (event?.type === "node_finished" && event.nodeId === at) {
          crashes += 1;
          queueMicrotask(() => run.crash());
        }
        return done;
      };
      await pass(30);
      expect([at, run.status, told(run).length]).toEqual([at, "completed", 3]);
      expect(run.order.filter((node) => node === "act")).toHaveLength(1);
      expect(crashes).toBeGreaterThan(0);
    }
  });
});

describe("what a monitor may do", () => {
  it("routine work without cost is done at once, and looked at again at once", async () => {
    const { pass, run } = play([acting({}), seen({ targetStateId: "state-2" }), stop]);
    await pass(0);
    expect(rounds(run)).toBe(`${CHECK} act ${CHECK} schedule`);
    expect(run.prompts[1]?.text).toContain("Start job 7 again.");
    expect(run.prompts[1]?.text).toContain("It may cost nothing.");
    expect(run.prompts[2]?.text).toContain("Job 7 runs.");
  });

  it("a task that only wants to be told allows nothing", async () => {
    const { pass, run } = play([acting({}, { authorizedActions: [] }), stop]);
    await pass(0);
    expect(rounds(run)).toBe(`${CHECK} schedule`);
    expect(told(run)[0]).toContain("Not done. The task does not allow to recover anything: Start job 7 again.");
  });

  it("B1: what costs money stops the monitor with a report, unless people wrote that it may", async () => {
    for (const authority of ["", "You may", "You may spend up to 50 dollars to restart the batch job."]) {
      const { pass, run } = play([acting({ cost: "paid", authority })]);
      await pass(0);
      expect(run.output).toMatchObject({ stoppedBy: "authority" });
      expect(run.order).not.toContain("act");
      expect(told(run)[0]).toContain("nobody has allowed that");
    }
    const quoted = "  you may SPEND up to 5 dollars\n to restart the batch job.";
    const { pass, run } = play([acting({ cost: "paid", authority: quoted }), stop]);
    await pass(0);
    expect(rounds(run)).toBe(`${CHECK} act ${CHECK} finish`);
  });

  it("a person may allow it while the monitor runs; a model may not", async () => {
    const authority = "restart it for up to 9 dollars";
    const { pass, run } = play([seen(), acting({ cost: "paid", authority }), stop]);
    await pass(0);
    const change = [{ op: "replace", path: "/authority", value: `Bob: ${authority}` }];
    expect(() => run.changeSettings(change, { actor: "session" })).toThrow();
    run.changeSettings(change, { actor: "human" });
    await pass(30);
    expect(run.order).toContain("act");
  });

  it("the same is not done twice for the same state", async () => {
    const { pass, run } = play([acting({}), acting({}), stop]);
    await pass(0);
    expect(rounds(run)).toBe(`${CHECK} act ${CHECK} schedule`);
    expect(told(run)[1]).toContain("The same was done for the same state just now");
  });

  it("a failed action is seen by the next check", async () => {
    const { pass, run } = play([acting({}), stop], { agents: { act: () => Promise.reject(new Error("no access")) } });
    await pass(0);
    expect(rounds(run)).toBe(`${CHECK} act ${CHECK} finish`);
  });
});

describe("repairs", () => {
  const defect = { failureId: "wrong-rounding", description: "Totals are rounded twice.", verify: ["npm test"] };
  const repair = (more: Seen = {}): Seen =>
    acting(
      { kind: "repair", target: "the billing code", request: "Round once.", defect: { ...defect, ...more } },
      { authorizedActions: ["repair"] },
    );
  const plan = { summary: "Round once", steps: ["Change the rounding"] };
  const design = {
    "planChange/design/propose": { candidates: [{ name: "small", approach: "Round at the end." }] },
    "planChange/design/choose": { route: "ready", reason: "It is small." },
    "planChange/design/plan": plan,
  };
  const shell = (spec: { args?: readonly string[] }): { stdout: string; exitCode?: number } => {
    const [first = "", second = ""] = spec.args ?? [];
    if (first === "rev-parse")
      return { stdout: second === "--show-toplevel" ? "/r/shop" : second === "HEAD" ? "c2" : "c1" };
    if (first === "diff" && second === "--cached") return { stdout: "", exitCode: 1 };
    return { stdout: first === "diff" ? "billing.ts" : "" };
  };
  const repairing: Omit<TestOptions, "input"> = {
    shell,
    answers: { "planChange/approval/approve": { choice: "continue" } },
    agents: { ...design, "implementation/implement": { outcome: "done", summary: "Rounded once." } },
  };
  const MENDED = "planChange/design/propose planChange/design/choose planChange/design/plan planChange/design/finalize";

  it("a repair is planned, approved by a person, carried out and looked at again", async () => {
    const { pass, run } = play([repair(), stop], repairing);
    await pass(0);
    expect(rounds(run)).toContain(
      `${CHECK} ${MENDED} planChange/assessPlan planChange/approval/routePolicy planChange/approval/approve`,
    );
    expect(rounds(run)).toMatch(/implementation\/commit implementation\/completed repairComplete observe/);
    expect(run.prompts.at(-1)?.text).toContain('"commit": "c2"');
    expect(run.output).toMatchObject({ stoppedBy: "goal", checks: 2 });
  });

  it("a model cannot approve its own repair: words that nobody wrote are left out, and people are asked", async () => {
    const claiming = (authority: string): Seen => {
      const seen = repair();
      return { ...seen, action: { ...(seen["action"] as Seen), authority } };
    };
    const own = play([claiming("The task allows every repair without asking."), stop], repairing);
    await own.pass(0);
    expect(rounds(own.run)).toContain("planChange/approval/routePolicy planChange/approval/approve");
    const input = { task: "Monitor billing. Repair its code without asking." };
    const quoted = play([claiming("Repair its code without asking."), stop], { ...repairing, input });
    await quoted.pass(0);
    expect(rounds(quoted.run)).toContain("planChange/approval/routePolicy planChange/approval/");
    expect(quoted.run.order).not.toContain("planChange/approval/approve");
    expect(quoted.run.output).toMatchObject({ stoppedBy: "goal", checks: 2 });
  });

  it("paid runners that the defect affects are stopped before anything is repaired", async () => {
    const running = repair({
      paidRunners: [
        { id: "gpu-1", state: "running" },
        { id: "gpu-2", state: "stopped" },
      ],
    });
    const stopped = repair({ paidRunners: [{ id: "gpu-1", state: "stopped" }] });
    const { pass, run } = play([running, stopped, stop], repairing);
    await pass(0);
    expect(rounds(run)).toMatch(new RegExp(`^${CHECK} act ${CHECK} planChange`));
    const order = run.prompts.find(({ nodeId }) => nodeId === "act")?.text;
    expect(order).toContain("Stop these paid runners at their next safe boundary");
    expect(order).toContain("gpu-1");
    expect(order).not.toContain("gpu-2");
  });

  it("runners that do not stop end the monitor, and nothing is repaired", async () => {
    const running = repair({ paidRunners: [{ id: "gpu-1", state: "running" }] });
    const { pass, run } = play([running, running], repairing);
    await pass(0);
    expect(run.output).toMatchObject({ stoppedBy: "runnersStillRun" });
    expect(run.order.some((node) => node.startsWith("planChange"))).toBe(false);
  });

  it("the same failure in the same state after its repair ends the monitor; another state is another failure", async () => {
    const { pass, run } = play([repair(), repair()], repairing);
    await pass(0);
    expect(run.output).toMatchObject({
      stoppedBy: "sameFailure",
      reason: "Failure wrong-rounding is back in the same state after its repair.",
      checks: 2,
    });
    const elsewhere = { ...repair(), targetStateId: "state-9" };
    const other = play([repair(), elsewhere, stop], {
      ...repairing,
      agents: { ...repairing.agents, "planChange/design/plan": each([plan, { ...plan, summary: "Round nowhere" }]) },
    });
    await other.pass(0);
    expect(other.run.output).toMatchObject({ stoppedBy: "goal", checks: 3 });
  });

  it("a plan that is refused, or a repair that does not pass, ends the monitor with its reason", async () => {
    const refused = play([repair()], { ...repairing, answers: { "planChange/approval/approve": { choice: "stop" } } });
    await refused.pass(0);
    expect(refused.run.output).toMatchObject({
      stoppedBy: "repairBlocked",
      reason: "The plan was stopped by a person.",
    });
    expect(told(refused.run).at(-1)).toContain(
      "The repair is blocked, so the monitor stops. The plan was stopped by a person.",
    );

    const failing = play([repair()], {
      ...repairing,
      shell: ((spec: { command: string; args?: string[] }) =>
        spec.command === "/bin/sh" ? { stdout: "1 test fails", exitCode: 1 } : shell(spec)) as never,
      agents: { ...repairing.agents, "implementation/repair": { outcome: "done", summary: "Tried again." } },
    });
    await failing.pass(0);
    expect(failing.run.output).toMatchObject({
      stoppedBy: "repairBlocked",
      reason: "Verification fails after 2 repairs: check-1",
    });
  });

  it("needs a defect with a way to see that it is mended", async () => {
    const { pass, run } = play([repair({ verify: [] })], { agents: {} });
    await pass(0);
    expect(run.result("observe")?.error?.kind).toBe("missingSubmission");
  });
});

describe("the report", () => {
  const track = (key: string, progress: Seen): Seen => ({
    key,
    progress: { label: key, status: "running", ...progress },
  });

  it("tells how far things are, what changed, at which rate, and when they may be done", async () => {
    const at = (completed: number): Seen =>
      seen({ progress: [track("rows", { completed, total: 100, unit: "rows" })] });
    const { pass, run } = play([at(10), at(40), stop]);
    await pass(30);
    expect(told(run)[0]).toContain("- rows: running; 10 of 100 rows\n");
    expect(told(run)[1]).toContain("- rows: running; 40 of 100 rows (+30, 60 an hour); about 60 minutes left\n");
    expect(run.updates.filter(({ type }) => type === "progress")).toMatchObject([
      { key: "rows", data: { completed: 10 } },
      { key: "rows", data: { completed: 40 } },
    ]);
  });

  it("has at most 4,000 characters: the aggregate and what is in trouble first, the rest counted", async () => {
    const many = Array.from({ length: 200 }, (_, index) => track(`track-${index}`, { completed: index, unit: "rows" }));
    const progress = [
      ...many,
      track("broken", { status: "failed" }),
      track("overall", { completed: 5, unit: "tracks" }),
    ];
    const { pass, run } = play([seen({ report: "r".repeat(1_500), progress }), stop]);
    await pass(0);
    const [text = ""] = told(run);
    expect(text.length).toBeLessThanOrEqual(4_000);
    expect(text.indexOf("- overall")).toBeLessThan(text.indexOf("- broken"));
    expect(text.indexOf("- broken")).toBeLessThan(text.indexOf("- track-0"));
    expect(text).toMatch(/\n- \(\d+ more left out\)\n\nNext check: /);
    expect(run.result("publish_progress")?.output).toEqual({ published: 64 });
  });

  it("goes to the audience `monitor` where there is one, to another when it is set, and to nobody when muted", async () => {
    const { pass, run } = play([seen(), seen(), seen(), stop]);
    await pass(0);
    run.changeSettings([{ op: "replace", path: "/audience", value: "reviewers" }], { actor: "session" });
    await pass(30);
    run.changeSettings([{ op: "replace", path: "/audience", value: null }]);
    await pass(30);
    expect(run.notifications.map(({ audience }) => audience)).toEqual(["monitor", "reviewers", undefined]);
  });
});
