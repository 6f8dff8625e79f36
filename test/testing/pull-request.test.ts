// The pull request manager of docs/examples through the test kit, as its readers would test it, against a local code host.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { manageResource, type TestResource } from "holdpoint/testing";
import pullRequest from "../../docs/examples/pull-request.resource-manager.ts";
import { CodeHost } from "../fixtures/code-host.ts";

let host: CodeHost;
let resource: TestResource;
beforeEach(async () => {
  host = await CodeHost.start();
  resource = manageResource(pullRequest, { api: host.url, repository: "shop", number: 7 });
});
afterEach(() => host.close());

async function approve(): Promise<void> {
  await resource.reconcile();
  const asked = resource.runs.at(-1);
  expect(asked).toMatchObject({ workflow: "merge-pull-request", input: { head: host.pull.head } });
  resource.setRun(asked?.requestKey ?? "", { state: "succeeded", output: { merge: true } });
}

describe("the pull request manager", () => {
  it("has a failing one repaired once for each head, and then asks about the new head", async () => {
    expect(await resource.reconcile()).toMatchObject({
      outcome: "settled",
      resourceManagerStatus: { phase: "repairing" },
    });
    await resource.reconcile();
    expect(resource.runs.map(({ requestKey }) => requestKey)).toEqual(["repair:1:head-1"]);
    resource.setRun("repair:1:head-1", { state: "succeeded" });
    Object.assign(host.pull, { head: "head-2", checks: "success" });
    await resource.reconcile();
    expect(resource.runs.map(({ requestKey }) => requestKey)).toEqual(["repair:1:head-1", "merge:1:head-2"]);
    expect(resource.condition("Ready")).toMatchObject({ status: false, reason: "WaitsForApproval" });
  });

  it("merges the approved head, and looks again before it says so", async () => {
    host.pull.checks = "success";
    await approve();
    expect(await resource.reconcile()).toMatchObject({ outcome: "requeue" });
    expect(resource.condition("Ready")).toMatchObject({ status: false, reason: "Merging" });
    expect(await resource.reconcile()).toMatchObject({ outcome: "settled" });
    expect(resource.condition("Ready")).toMatchObject({ status: true, reason: "Merged", message: "c0ffee" });
    expect(resource.effects).toMatchObject([{ kind: "merge", state: "applied", externalRef: "c0ffee" }]);
  });

  it("merges once when the answer gets lost: the next pass finds it merged", async () => {
    host.pull.checks = "success";
    await approve();
    host.loseAnswer = true;
    expect(await resource.reconcile()).toMatchObject({ outcome: "failed" });
    expect(resource.effects).toMatchObject([{ state: "indeterminate" }]);
    expect(await resource.reconcile()).toMatchObject({ outcome: "settled" });
    expect(resource.condition("Ready")).toMatchObject({ reason: "Merged" });
    expect(resource.effects).toMatchObject([{ state: "applied", externalRef: "c0ffee" }]);
    expect(host.merged).toEqual(["head-1"]);
  });

  it("merges once when its own process dies after the merge, and never what was not approved", async () => {
    host.pull.checks = "success";
    await approve();
    resource.loseAnswer("merge:1:head-1");
    expect(await resource.reconcile()).toMatchObject({ outcome: "failed" });
    // Somebody pushes before the process comes back; the merge was of the old head.
    await resource.reconcile();
    expect(host.asked).toEqual(["head-1"]);

    const moved = manageResource(pullRequest, { api: host.url, repository: "shop", number: 7 });
    Object.assign(host.pull, { state: "open", head: "head-3" });
    resource = moved;
    await approve();
    // The push comes between the look and the merge.
    const { asked, merged } = host;
    const look = Object.getOwnPropertyDescriptor(host.pull, "head");
    let looks = 0;
    Object.defineProperty(host.pull, "head", {
      configurable: true,
      enumerable: true,
      get: () => ((looks += 1) === 1 ? "head-3" : "head-4"),
    });
    expect(await moved.reconcile()).toMatchObject({ outcome: "requeueAfter" });
    Object.defineProperty(host.pull, "head", { ...look });
    expect(moved.condition("Ready")).toMatchObject({ reason: "HeadMoved" });
    expect(moved.effects).toMatchObject([{ state: "rejected" }]);
    expect(merged).toEqual(["head-1"]);
    expect(asked).toEqual(["head-1", "head-3"]);
  });

  it("leaves alone what people left alone, and refuses a spec that cannot be", async () => {
    host.pull.checks = "success";
    await resource.reconcile();
    resource.setRun("merge:1:head-1", { state: "succeeded", output: { merge: false } });
    expect(await resource.reconcile()).toMatchObject({ outcome: "settled" });
    expect(resource.condition("Ready")).toMatchObject({ reason: "Declined" });
    expect(host.asked).toEqual([]);
    expect(() => manageResource(pullRequest, { api: "ftp:", number: 1 })).toThrow(/api and number are needed/);
  });
});
