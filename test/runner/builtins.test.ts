// Loading built-in workflows: by id and revision, by themselves and included, and from approved bytes when this version has others.
import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
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
  expect(sources.map(({ path }) => path)).toEqual([workflowPath, sourceName(BUILTINS_INDEX), NAME].toSorted());
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
