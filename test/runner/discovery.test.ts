// Which file a name means: the project's before the user's before the built-in ones.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findWorkflow, listWorkflows } from "../../src/contracts/discovery.ts";

let root = "";
const places = () => ({
  projectPath: join(root, "project"),
  userHome: join(root, "home"),
  builtins: join(root, "builtins"),
});
const project = (name: string): string => join(root, "project/.pi/workflows", name);
const user = (name: string): string => join(root, "home/.pi/agent/workflows", name);
const builtin = (folder: string): string => join(root, "builtins", folder, "any.workflow.ts");

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "discovery-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(...paths: string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, "");
  }
}

describe("finding by name", () => {
  it("the project hides the user's file, and that the built-in one", async () => {
    put(
      project("a.workflow.ts"),
      user("a.workflow.ts"),
      user("b.workflow.ts"),
      builtin("b@1"),
      builtin("c@1"),
      builtin("c@2"),
    );
    const found = await listWorkflows(places());
    expect(found).toEqual([
      { name: "a", path: project("a.workflow.ts"), origin: "project" },
      { name: "b", path: user("b.workflow.ts"), origin: "user" },
      { name: "c", path: "builtin:c@2", origin: "builtin" },
    ]);
    expect(await findWorkflow("b", places())).toEqual(found[1]);
  });

  it("all four suffixes are found, TypeScript first, other files and folders are not", async () => {
    put(
      project("a.workflow.mjs"),
      project("a.workflow.ts"),
      project("b.workflow.mts"),
      project("c.workflow.js"),
      project("d.workflow.mjs"),
    );
    put(
      project("e.ts"),
      project("f.workflow.cjs"),
      project("g.workflow.ts/inside.workflow.ts"),
      project(".workflow.ts"),
    );
    const found = await listWorkflows(places());
    expect(found.map(({ path }) => path)).toEqual(
      ["a.workflow.ts", "b.workflow.mts", "c.workflow.js", "d.workflow.mjs"].map(project),
    );
  });

  it("a link to a file is found", async () => {
    put(join(root, "elsewhere.ts"), project("x.workflow.ts"));
    symlinkSync(join(root, "elsewhere.ts"), project("linked.workflow.ts"));
    expect((await findWorkflow("linked", places())).path).toBe(project("linked.workflow.ts"));
  });

  it("words of the workflow command are no names", async () => {
    put(project("status.workflow.ts"));
    expect(await listWorkflows(places())).toEqual([]);
    await expect(findWorkflow("status", places())).rejects.toMatchObject({
      kind: "workflowNotFound",
      message: expect.stringContaining("word of the workflow command"),
    });
  });

  it("an unknown name is told with where it was looked for and what there is", async () => {
    put(project("deploy.workflow.ts"));
    await expect(findWorkflow("deploi", places())).rejects.toMatchObject({
      kind: "workflowNotFound",
      message: expect.stringContaining(join(root, "project/.pi/workflows")),
      details: { name: "deploi", names: ["deploy"] },
    });
  });

  it("without any folder the list is empty", async () => {
    expect(await listWorkflows(places())).toEqual([]);
  });
});

describe("finding by path", () => {
  it("a path is relative to the project or absolute, or begins at the user's home", async () => {
    put(join(root, "project/sub/x.workflow.ts"), join(root, "home/y.workflow.ts"));
    const x = { name: "x", path: join(root, "project/sub/x.workflow.ts"), origin: "path" };
    expect(await findWorkflow("sub/x.workflow.ts", places())).toEqual(x);
    expect(await findWorkflow("./sub/../sub/x.workflow.ts", places())).toEqual(x);
    expect(await findWorkflow(x.path, places())).toEqual(x);
    expect(await findWorkflow("~/y.workflow.ts", places())).toMatchObject({ name: "y" });
  });

  it("a missing file, a folder and another name are told apart", async () => {
    put(join(root, "project/plain.ts"));
    mkdirSync(join(root, "project/dir"));
    await expect(findWorkflow("none.workflow.ts", places())).rejects.toThrow("does not exist");
    await expect(findWorkflow("./dir", places())).rejects.toThrow("is not a file");
    await expect(findWorkflow("./plain.ts", places())).rejects.toThrow("is not named like a workflow");
  });
});
