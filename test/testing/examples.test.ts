// Every example of docs/examples runs through the test kit, as its readers would test it.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { each, NO_SUBMISSION, agentTurns, runWorkflow, startWorkflow } from "holdpoint/testing";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import deploy from "../../docs/examples/deploy.workflow.ts";
import effects from "../../docs/examples/effects.workflow.ts";
import importing from "../../docs/examples/import.workflow.ts";
import mend from "../../docs/examples/mend.workflow.ts";
import mergePull from "../../docs/examples/merge-pull-request.workflow.ts";
import plan from "../../docs/examples/plan.workflow.ts";
import release from "../../docs/examples/release.workflow.ts";
import repairPull from "../../docs/examples/repair-pull-request.workflow.ts";
import retry from "../../docs/examples/retry.workflow.ts";
import review from "../../docs/examples/review.workflow.ts";
import shell from "../../docs/examples/shell.workflow.ts";
import triage from "../../docs/examples/triage.workflow.ts";
import verify from "../../docs/examples/verify.workflow.ts";
import watch from "../../docs/examples/watch.workflow.ts";
import approval from "../../docs/examples/approval.workflow.ts";
import { CodeHost } from "../fixtures/code-host.ts";

let folder: string;
beforeAll(async () => void (folder = await mkdtemp(join(tmpdir(), "holdpoint-examples-"))));
afterAll(() => rm(folder, { recursive: true, force: true }));

describe("examples", () => {
  it("merge-pull-request and repair-pull-request: the child runs of the pull request manager", async () => {
    const host = await CodeHost.start();
    try {
      const input = { api: host.url, repository: "shop", number: 7, title: "Cart", head: "head-1" };
      const repaired = await runWorkflow(repairPull, { input });
      expect(repaired.output).toEqual({ head: "head-2" });
      repaired.assertEffect("format", { state: "applied", attempts: 1 });
      const asked = await runWorkflow(mergePull, { input, answers: { ask: { choice: "merge" } } });
      expect(asked.output).toEqual({ merge: true });
      const left = await runWorkflow(mergePull, { input, answers: { ask: { choice: "leave" } } });
      expect(left.output).toEqual({ merge: false });
    } finally {
      await host.close();
    }
  });

  it.each([
    ["approval", approval, /title: .*steps: /],
    ["effects", effects, /folder: .*version: /],
    ["verify", verify, /checks: /],
    ["merge-pull-request", mergePull, /repository: .*number: /],
    ["repair-pull-request", repairPull, /api: .*head: /],
  ] as const)("%s without its input says what is missing", async (_name, workflow, missing) => {
    // As the command line starts it, which knows no types.
    const start = async (): Promise<unknown> =>
      runWorkflow(workflow as Parameters<typeof runWorkflow>[0], { input: {} });
    await expect(start()).rejects.toMatchObject({ kind: "inputInvalid", message: expect.stringMatching(missing) });
  });

  it("retry: a failure goes on by its outcome, three times at most", async () => {
    const run = await runWorkflow(retry, { input: { file: "a.pdf", failures: 2 } });
    expect(run.order).toEqual(["upload", "again", "upload", "again", "upload", "done"]);
    expect(run.output).toEqual({ url: "https://files.example/a.pdf" });
    run.assertEffect("upload", { state: "applied", visits: 3 });
    const hopeless = await runWorkflow(retry, { input: { failures: 9 } });
    expect(hopeless.output).toEqual({ gaveUp: 'Node "upload" failed: The service is busy.' });
  });

  it("effects: each of the three contracts, in a folder", async () => {
    const input = { folder: join(folder, "effects"), version: "1.0" };
    const run = await runWorkflow(effects, { input });
    expect(run.output).toEqual({ posted: true });
    expect(await readdir(input.folder)).toEqual(["1.0.txt", "letter.txt"]);
    run.assertEffect("release", { state: "applied", attempts: 1, request: { version: "1.0" } });
    expect(run.effects.map(({ recovery }) => recovery)).toEqual(["idempotent", "observed", "manual"]);
  });

  it("plan: the built-in approval is asked again about each change, and the third is the last", async () => {
    const replan = { choice: "replan", input: { changes: "Tell the customers" } };
    const approved = await runWorkflow(plan, {
      answers: { "approval/approve": each([replan, { choice: "continue" }]) },
    });
    expect(approved.output).toEqual({ done: ["Migrate", "Switch the traffic", "Tell the customers"] });
    const stopped = await runWorkflow(plan, { answers: { "approval/approve": each([replan, replan, replan]) } });
    expect(stopped.output).toEqual({ done: [] });
    expect(stopped.order.filter((node) => node === "plan")).toHaveLength(3);
  });

  it("mend: what the tests find is mended by the built-in of that name, and the end is told", async () => {
    const red = { exitCode: 1, stdout: "1 test fails" };
    const git = ({ args = [] }: { args?: readonly string[] }): object => {
      if (args[1] === "--show-toplevel") return { stdout: "/r/shop" };
      if (args[0] === "diff" && args[1] === "--cached") return { exitCode: 1 };
      return { stdout: args[0] === "rev-parse" ? (args[1] === "HEAD" ? "c2" : "c1") : "total.ts" };
    };
    const shells = { test: red, "mend/prepare": git, "mend/commit": git };
    const agents = { "mend/implement": { outcome: "done", summary: "Rounded once." } };
    const run = await runWorkflow(mend, { agents, shell: { ...shells, "mend/verify": { exitCode: 0 } } });
    expect(run.prompts[0]?.text).toContain("1 test fails");
    expect(run.notifications[0]?.message).toMatch(/^Mended on holdpoint\//);
    const repairs = { ...agents, "mend/repair": { outcome: "done", summary: "Tried." } };
    const hopeless = await runWorkflow(mend, { agents: repairs, shell: { ...shells, "mend/verify": red } });
    expect(hopeless.notifications[0]?.message).toBe("Not mended: Verification fails after 2 repairs: check-1");
    expect((await runWorkflow(mend, { shell: { test: { exitCode: 0 } } })).output).toEqual({ branch: null });
  });

  it("shell: the output is parsed, lines become progress, and an exit code is a result", async () => {
    const run = await runWorkflow(shell, { shell: { build: { stdout: "[1/2] a.c\n[2/2] b.c\n" } } });
    expect(run.output).toBe("Built with 2 lines of output.");
    expect(run.updates.map(({ data, key }) => [key, (data as { completed: number }).completed])).toEqual([
      ["build", 1],
      ["build", 2],
    ]);
    expect((await runWorkflow(shell, { shell: { build: { exitCode: 2 } } })).output).toBe("The build is broken.");
  });

  it("review: a refused submission is corrected, and text is the output of the second step", async () => {
    const run = await runWorkflow(review, {
      input: { diff: "x".repeat(10_000), minutes: 5 },
      agents: {
        review: agentTurns({ verdict: "maybe" }, NO_SUBMISSION, '```json\n{"verdict":"good","reasons":[]}\n```'),
        summary: "Nothing is wrong. It may be merged.",
      },
    });
    expect(run.result("review")?.output).toEqual({ verdict: "good", reasons: [] });
    expect(run.output).toBe("Nothing is wrong. It may be merged.");
    expect(run.prompts.map(({ nodeId, reason }) => `${nodeId} ${reason}`)).toEqual([
      "review initial",
      "review reminder",
      "summary initial",
    ]);
    expect(run.prompts[0]?.text.length).toBeLessThan(8_000);
  });

  it("watch: the loop waits, acts and stops as decided", async () => {
    const run = startWorkflow(watch, {
      input: { goal: "The migration is finished" },
      agents: {
        observe: each([{ state: "half" }, { state: "almost" }, { state: "finished" }]),
        decide: each([{ route: "wait" }, { route: "act" }, { route: "stop" }]),
        act: {},
      },
    });
    await run.clock.advance(30 * 60_000 - 1);
    expect(run.pending).toMatchObject({ kind: "sleep", nodeId: "sleep", reason: "The next look" });
    await run.clock.advance(1);
    await run.settled();
    expect(run.order.join(" ")).toBe("observe decide sleep observe decide act observe decide report");
    expect(run.notifications).toMatchObject([
      { kind: "final", message: "The migration is finished: finished", index: 0 },
    ]);
  });

  it("triage: every route has its way, and an unclear report waits for an answer", async () => {
    const run = await runWorkflow(triage, { input: { report: "It crashes." }, agents: { sort: { route: "unclear" } } });
    expect(run.status).toBe("waiting");
    expect(run.pending).toMatchObject({ kind: "checkpoint", nodeId: "look", summary: "An unclear report" });
    await run.answer({ kind: "bug" });
    expect(run.notifications).toMatchObject([{ audience: "operators", message: "A bug was reported: It crashes." }]);
    const bug = await runWorkflow(triage, {
      input: { report: "x" },
      agents: { sort: 'I think it is { "route": "question" }.' },
    });
    expect(bug.output).toEqual({ answer: "question" });
  });

  it("verify: commands run side by side, and each tells what became of it", async () => {
    const checks = [
      { id: "types", command: "tsc" },
      { id: "tests", command: "vitest" },
      { id: "lint", command: "oxlint" },
    ];
    const run = await runWorkflow(verify, {
      input: { checks },
      shell: ({ command }) => (command === "vitest" ? { exitCode: 1, stderr: "2 failed" } : {}),
    });
    expect(run.output).toEqual({ passed: false, failed: [{ itemId: "tests", stderr: "2 failed" }] });
    expect(run.updates.map(({ key, type }) => `${type} ${key}`).sort()).toEqual([
      "command-batch.item lint",
      "command-batch.item tests",
      "command-batch.item types",
      "progress overall",
    ]);
  });

  it("import: the settings may be changed while it runs, by whom and how the rules say", async () => {
    expect((await runWorkflow(importing)).output).toEqual({ imported: 3, limit: 3 });
    const run = startWorkflow(importing, { input: { limit: 2_000 } });
    await run.clock.advance(0);
    expect(run.changeSettings([{ op: "replace", path: "/limit", value: 2_001 }])).toMatchObject({
      changeNumber: 1,
      value: { limit: 2_001 },
    });
    expect(() => run.changeSettings([{ op: "replace", path: "/limit", value: 2_050 }], { actor: "session" })).toThrow(
      "session may not replace /limit",
    );
    expect(() => run.changeSettings([{ op: "replace", path: "/limit", value: 5 }])).toThrow("can only be raised");
    expect(() => run.changeSettings([{ op: "replace", path: "/limit", value: "many" }])).toThrow(
      "is refused by workflow",
    );
    await run.settled();
    expect(run.output).toEqual({ imported: 2_001, limit: 2_001 });
  });

  it("release: the mounted approval is asked twice, and each exit leads on", async () => {
    const answers = { "planApproval/ask": { choice: "approve" }, "announcement/ask": { choice: "approve" } };
    const run = await runWorkflow(release, { answers });
    expect(run.output).toEqual({ released: true, deployed: ["Migrate the database", "Switch the traffic"] });
    const stopped = await runWorkflow(release, { answers: { "planApproval/ask": { choice: "stop" } } });
    expect(stopped.output).toEqual({ released: false, after: ["plan", "planApproval"] });
    const alone = await runWorkflow(approval, {
      input: { title: "T", steps: ["a"] },
      answers: { ask: { choice: "approve" } },
    });
    expect(alone.output).toEqual({ steps: ["a"] });
  });

  it("deploy: replanned once, then approved; and stopped when nobody answers in two hours", async () => {
    const logFile = join(folder, "deployments.log");
    const run = await runWorkflow(deploy, {
      input: { version: "5.0.0", logFile },
      audiences: ["operators"],
      answers: { approve: each([{ choice: "replan", input: { changes: "later" } }, { choice: "approve" }]) },
    });
    expect(run.output).toMatchObject({ message: "5.0.0 is live.", requests: ["later"] });
    expect((await readFile(logFile, "utf8")).split("\n")).toHaveLength(2);
    run.assertEffect("deploy", { state: "applied", attempts: 1 });
    const late = await runWorkflow(deploy, { input: { version: "5.0.1" } });
    expect(late.status).toBe("waiting");
    await late.clock.advance(2 * 60 * 60_000 - 1);
    expect(late.status).toBe("waiting");
    await late.clock.advance(1);
    expect(await late.settled()).toMatchObject({ status: "completed", order: ["plan", "approve", "stopped"] });
  });
});

it("every example has a test", async () => {
  const here = await readFile(new URL(import.meta.url), "utf8");
  const names = (await readdir(new URL("../../docs/examples", import.meta.url))).filter((name) =>
    name.endsWith(".workflow.ts"),
  );
  expect(names.length).toBeGreaterThan(10);
  expect(names.filter((name) => !here.includes(`docs/examples/${name}`))).toEqual([]);
});
