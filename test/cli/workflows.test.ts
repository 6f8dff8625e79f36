// Workflows by name: found in the project, and the nearest name when there is none.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import { holdpoint } from "./run-in-process.ts";

const folders: string[] = [];
afterEach(() => {
  vi.restoreAllMocks();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

/** A project with one workflow, as the current folder. */
function project(): string {
  const folder = mkdtempSync(join(tmpdir(), "hp-project-"));
  folders.push(folder);
  mkdirSync(join(folder, ".pi", "workflows"), { recursive: true });
  writeFileSync(join(folder, ".pi", "workflows", "deploy.workflow.ts"), "export default null;");
  vi.spyOn(process, "cwd").mockReturnValue(folder);
  return folder;
}

test("workflows lists names, where they are from, and files", async () => {
  const folder = project();
  const { code, out } = await holdpoint(["workflows", "--json"]);
  expect(code).toBe(0);
  const { result } = JSON.parse(out) as { result: { workflows: unknown[] } };
  const path = join(folder, ".pi", "workflows", "deploy.workflow.ts");
  expect(result.workflows).toContainEqual({ name: "deploy", path, origin: "project" });
  expect((await holdpoint(["workflows"])).out).toMatch(/^deploy +project +\S+deploy\.workflow\.ts$/m);
});

test("a mistyped name is told the nearest one", async () => {
  project();
  const { code, err } = await holdpoint(["run", "depoly", "--no-start"]);
  expect(code).toBe(EXIT.workflow.code);
  expect(err.replace(/\s+/g, " ")).toMatch(/No workflow "depoly".*\(HP301\).*Did you mean deploy\?/);
});

test("a path that does not exist is named", async () => {
  const folder = project();
  const { code, err } = await holdpoint(["run", "./gone.workflow.ts", "--no-start"]);
  expect(code).toBe(EXIT.workflow.code);
  expect(err.replace(/\s+/g, "")).toContain(`${join(folder, "gone.workflow.ts")}doesnotexist`);
});
