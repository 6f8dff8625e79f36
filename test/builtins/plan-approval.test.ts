// The built-in approval of a plan: who is asked, what, and how the workflow that includes it goes on.
import { planApproval, planApprovalFor } from "holdpoint/builtins";
import { runWorkflow, startWorkflow } from "holdpoint/testing";
import { describe, expect, it } from "vitest";

const input = { summary: "Move the shop", steps: ["Migrate", "Switch"], details: { Risk: "low" } };

describe("plan-approval", () => {
  it("asks the operators with the steps and details of the plan", async () => {
    const run = startWorkflow(planApproval, { input: { ...input, revision: 3 } });
    await run.settled();
    expect(run.pending).toMatchObject({
      nodeId: "approve",
      request: {
        audience: "operators",
        title: "Approve the plan",
        revision: 3,
        presentation: {
          summary: "Move the shop",
          blocks: [
            { kind: "bullets", items: ["Migrate", "Switch"] },
            { kind: "fields", items: [{ label: "Risk", value: "low" }] },
          ],
        },
      },
    });
  });

  it.each([
    ["goes on", { choice: "continue" }, { approvedBy: "person", because: "answer", revision: 1 }],
    ["says what to change", { choice: "replan", input: { changes: "Later." } }, { changes: "Later.", revision: 1 }],
    ["stops", { choice: "stop" }, { revision: 1 }],
  ])("%s by the answer", async (_what, answer, output) => {
    const run = await runWorkflow(planApproval, { input, answers: { approve: answer } });
    expect([run.status, run.output]).toEqual(["completed", output]);
  });

  it.each([
    ["the policy is to skip", { policy: "skip" }, "skip"],
    ["it was allowed beforehand", { policy: "auto", authority: "Ann: go ahead" }, "authority"],
    [
      "it is the plan that was approved",
      { policy: "auto", planDigest: "sha256:a", approvedDigest: "sha256:a" },
      "unchanged",
    ],
  ])("goes on without asking anybody where %s", async (_what, more, because) => {
    const run = await runWorkflow(planApproval, { input: { ...input, ...more } });
    expect(run.order).toEqual(["routePolicy", "continued"]);
    expect(run.output).toEqual({ approvedBy: "policy", because, revision: 1 });
  });

  it.each([
    ["nothing is said", {}],
    ["the policy requires it, whatever was allowed", { policy: "required", authority: "Ann: go ahead" }],
    ["nobody allowed it", { policy: "auto" }],
    ["the plan is another one", { policy: "auto", planDigest: "sha256:a", approvedDigest: "sha256:b" }],
  ])("asks where %s", async (_what, more) => {
    const run = startWorkflow(planApproval, { input: { ...input, ...more } });
    await run.settled();
    expect(run.pending?.nodeId).toBe("approve");
  });

  it.each([
    ["no summary", {}],
    ["an unknown policy", { ...input, policy: "maybe" }],
    ["an unknown field", { ...input, audience: "operators" }],
  ])("refuses an input with %s", async (_what, wrong) => {
    const refused = async () => runWorkflow(planApproval, { input: wrong });
    await expect(refused()).rejects.toMatchObject({ kind: "inputInvalid" });
  });

  it("asks another audience where it is made for one", async () => {
    const run = startWorkflow(planApprovalFor("reviewers"), { input });
    await run.settled();
    expect(run.pending).toMatchObject({ request: { audience: "reviewers" } });
  });
});
