// Loading built-in workflows: by id and revision, by themselves and included, and from approved bytes when this version has others.
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { sourceName, BUILTINS_INDEX } from "../../src/contracts/builtins.ts";
import { loadWorkflow, type Loaded, type LoadedWorkflow } from "../../src/runner/load.ts";
import { makeFolder, oneNode, type Folder } from "./folder.ts";

const NAME = "builtin:plan-approval@1";
let folder: Folder;
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => folder.remove());

async function loaded(more: object): Promise<LoadedWorkflow> {
  const result = await loadWorkflow(folder.launch("", more));
  if (result.kind !== "loaded") throw result.error;
  return result;
}

async function refused(more: object): Promise<Exclude<Loaded, LoadedWorkflow>> {
  const result = await loadWorkflow(folder.launch("", more));
  if (result.kind === "loaded") throw new Error("It was loaded.");
  return result;
}

/** Approved content as the server lays it out. */
function approved(path: string, text: string): { sources: object[]; sourcesDir: string } {
  const sha256 = createHash("sha256").update(text).digest("hex");
  const sourcesDir = join(folder.path, "sources");
  mkdirSync(sourcesDir, { recursive: true });
  writeFileSync(join(sourcesDir, sha256), text);
  return { sources: [{ path, sha256 }], sourcesDir };
}

test("its only source is its name, and the input is checked by its own parser", async () => {
  const { definition, input, sources } = await loaded({ workflowPath: NAME, input: { summary: "A plan" } });
  expect(definition.name).toBe("plan-approval");
  expect(sources.map(({ path }) => path)).toEqual([NAME]);
  expect(input).toMatchObject({ summary: "A plan", policy: "ask" });
});

test("a file that includes it has it among its sources, by that name", async () => {
  folder.put(
    "w.workflow.ts",
    `import { compute, defineWorkflow, includeWorkflow } from "holdpoint";
     import { planApproval } from "holdpoint/builtins";
     export default defineWorkflow({
       name: "w", startAt: "approval",
       includes: { approval: includeWorkflow(planApproval, { input: () => ({ summary: "x" }) }) },
       nodes: { end: compute({ run: () => 1 }) },
       edges: [{ from: "approval.continued", to: "end" }, { from: "approval.replan", to: "end" }, { from: "approval.stopped", to: "end" }],
     });`,
  );
  const workflowPath = join(folder.path, "w.workflow.ts");
  const { snapshot, sources } = await loaded({ workflowPath });
  expect(Object.keys(snapshot.nodes)).toContain("approval/approve");
  expect(sources.map(({ path }) => path)).toEqual(
    [workflowPath, sourceName(BUILTINS_INDEX), "builtin:plan-approval@2"].toSorted(),
  );
});

test("a run goes on from the bytes that it was started with, in a version that has other ones or none of that revision", async () => {
  for (const path of [NAME, "builtin:plan-approval@0.9", "builtin:retired@3"]) {
    const given = approved(path, oneNode(`() => "as approved"`));
    const { definition, sources } = await loaded({ workflowPath: path, ...given });
    expect(definition.name).toBe("one");
    expect(sources).toEqual(given.sources);
  }
});

test("a revision that this version does not have cannot be started, and the way out is named", async () => {
  const { error, kind } = await refused({ workflowPath: "builtin:plan-approval@0" });
  expect(kind).toBe("failed");
  expect(error.kind).toBe("workflowNotFound");
  expect(`${error.message} ${error.remedy}`).toMatch(
    /plan-approval@0 is not in this version.*holdpoint run plan-approval/,
  );
});

test("approved bytes that are nowhere any more park the run", async () => {
  const sources = [{ path: "builtin:plan-approval@0", sha256: "0".repeat(64) }];
  const { error, kind } = await refused({ workflowPath: "builtin:plan-approval@0", sources });
  expect([kind, error.kind]).toEqual(["changed", "workflowSourceChanged"]);
});

test("those that include others by name take the project's file in the place of a built-in one, and go on with what they started with", async () => {
  const workflowPath = "builtin:plan-change@1";
  const input = { task: "x" };
  const standard = await loaded({ workflowPath, input });
  const theirs = (from: string): string =>
    `import { compute, defineWorkflow } from "holdpoint";
     export default defineWorkflow({ name: "${from}", contractId: "holdpoint/autoplan/1", startAt: "a",
       nodes: { a: compute({ run: () => ({ go: true }) }), ready: compute({ run: () => 1 }), blocked: compute({ run: () => 2 }) },
       edges: [{ from: "a", switch: { on: "$.go", cases: { true: "ready", false: "blocked" } } }],
       exits: { ready: { from: "ready" }, blocked: { from: "blocked" } } });`;
  expect(standard.sources.map(({ path }) => path)).toEqual([
    "builtin:autoplan@1",
    "builtin:autoplan@1/plan.ts",
    "builtin:plan-approval@2",
    workflowPath,
  ]);

  mkdirSync(join(folder.path, ".pi", "workflows"), { recursive: true });
  const own = folder.put(".pi/workflows/autoplan.workflow.ts", theirs("ours"));
  const replaced = await loaded({ workflowPath, input });
  expect(replaced.snapshot.includes?.["design"]?.workflow).toBe("ours");
  expect(replaced.sources.map(({ path }) => path)).toContain(own);
  expect(replaced.sources.map(({ path }) => path)).not.toContain("builtin:autoplan@1");

  // A run that began before the project had its own goes on with the built-in one.
  const { digest, sources } = standard;
  const resumed = await loaded({ workflowPath, sources, definitionDigest: digest, input, inputParsed: true });
  expect(resumed.snapshot.includes?.["design"]?.workflow).toBe("autoplan");
  // And one that began with the project's goes on with that, also when it is gone.
  const given = approved(own, theirs("ours"));
  rmSync(own);
  const kept = await loaded({
    workflowPath,
    sources: replaced.sources,
    sourcesDir: given.sourcesDir,
    definitionDigest: replaced.digest,
    input,
    inputParsed: true,
  });
  expect(kept.snapshot.includes?.["design"]?.workflow).toBe("ours");
});

test("a file of another contract in the place of a built-in one is refused by name", async () => {
  mkdirSync(join(folder.path, ".pi", "workflows"), { recursive: true });
  folder.put(".pi/workflows/autoplan.workflow.ts", oneNode("() => 1"));
  const { error } = await refused({ workflowPath: "builtin:plan-change@1", input: { task: "x" } });
  expect(error.message).toMatch(/contract/);
});

test("a project's file can include the built-in one that it takes the place of", async () => {
  mkdirSync(join(folder.path, ".pi", "workflows"), { recursive: true });
  folder.put(
    ".pi/workflows/autoplan.workflow.ts",
    `import { defineWorkflow, includeWorkflow } from "holdpoint";
     import autoplan from "holdpoint/builtins/autoplan";
     export default defineWorkflow({ name: "ours", contractId: "holdpoint/autoplan/1", startAt: "inner", nodes: {},
       includes: { inner: includeWorkflow(autoplan, { input: ({ input }) => input }) }, edges: [],
       exits: { ready: { from: "inner.ready" }, blocked: { from: "inner.blocked" } } });`,
  );
  const { snapshot } = await loaded({ workflowPath: "builtin:plan-change@1", input: { task: "x" } });
  expect(Object.keys(snapshot.nodes)).toContain("design/inner/propose");
});
