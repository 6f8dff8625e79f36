// The pull request manager of docs/examples as its user has it: files in a project, the command line, a phone, and a code host whose
// answers get lost.
import { copyFileSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { ResourceDetail } from "../../src/contracts/protocol/resource-operations.ts";
import { CodeHost } from "../fixtures/code-host.ts";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { Scope, type CliResult } from "../harness/index.ts";
import { Stage, until } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
let host: CodeHost;
let project: string;

beforeAll(async () => {
  project = realpathSync(mkdtempSync(join(tmpdir(), "hp-project-")));
  scope.add(() => rmSync(project, { recursive: true, force: true }));
  const examples = resolve(import.meta.dirname, "../../docs/examples");
  for (const [folder, files] of Object.entries({
    "resource-managers": ["pull-request.resource-manager.ts"],
    workflows: ["repair-pull-request.workflow.ts", "merge-pull-request.workflow.ts"],
  })) {
    mkdirSync(join(project, ".pi", folder), { recursive: true });
    for (const file of files) copyFileSync(join(examples, file), join(project, ".pi", folder, file));
  }
  host = await CodeHost.start();
  scope.add(() => host.close());
  stage = await Stage.open(scope);
});
afterAll(() => scope.close());

const ref = (): { projectPath: string; manager: string; key: string } => ({
  projectPath: project,
  manager: "pull-request",
  key: "shop#7",
});

function when(predicate: (detail: ResourceDetail) => boolean, what: string): Promise<ResourceDetail> {
  return until(async () => {
    const detail = await stage.client.call("resourceManager.get", ref());
    return predicate(detail) && detail;
  }, what);
}

const reason = ({ resource }: ResourceDetail): string | undefined => resource.status.conditions[0]?.reason;

test("a pull request is repaired, approved on a phone, and merged once at the approved head, although answers get lost and the server dies", async () => {
  const spec = JSON.stringify({ api: host.url, repository: "shop", number: 7 });
  const applied = await stage.cli(["apply", "pull-request", "shop#7", spec, "--json"], { cwd: project });
  expect(JSON.parse(applied.stdout)).toMatchObject({ ok: true, result: { outcome: "created", generation: 1 } });

  // Its checks fail: a child run repairs it, and the next pass finds another head and asks.
  const card = await stage.ann.waitForCard("Merge shop#7?");
  expect(card.text).toContain("head-2");
  const asking = await when((it) => reason(it) === "WaitsForApproval" && it.queue === null, "the question");
  expect(asking.children.map(({ requestKey, state }) => [requestKey, state])).toEqual([
    ["repair:1:head-1", "succeeded"],
    ["merge:1:head-2", "waiting"],
  ]);
  await stage.killAndRestart();

  host.loseAnswer = true;
  await stage.ann.tap(card.id, "Merge");
  const merged = await when((it) => reason(it) === "Merged" && it.queue === null, "the merge");
  expect(host.asked).toEqual(["head-2"]);
  expect(host.merged).toEqual(["head-2"]);
  expect(merged.effects).toMatchObject([{ kind: "merge", state: "applied", externalRef: "c0ffee" }]);
  const states = merged.events.filter(({ type }) => type.startsWith("effect.")).map(({ payload }) => payload);
  expect(states).toMatchObject([{ state: "applied" }, { state: "indeterminate" }, { state: "pending" }]);

  const list = await stage.cli(["resource-managers"], { cwd: project });
  expect(list.stdout).toMatch(/^pull-request +shop#7 +yes +when asked$/m);
  const shown = await stage.cli(["resource-manager", "pull-request", "shop#7"], { cwd: project });
  expect(shown.stdout).toContain("merge merge:1:head-2: applied as c0ffee");
  expect(shown.stdout).toContain("repair-pull-request, repair:1:head-1: succeeded");
  // Another project sees nothing of it.
  const other = await stage.cli(["resource-manager", "pull-request", "shop#7", "--project", tmpdir()]);
  expect(other.code).toBe(5);
  expect((await stage.cli(["delete", "pull-request", "shop#7"], { cwd: project })).stdout).toContain("is deleted");
  expect((await stage.cli(["state", "verify"])).code).toBe(0);
});

describe("what is wanted", () => {
  const apply = (spec: string, stdin?: string): Promise<CliResult> =>
    stage.cli(["apply", "pull-request", "shop#8", spec], { cwd: project, ...(stdin === undefined ? {} : { stdin }) });
  const wanted = (number: number): string =>
    `${JSON.stringify({ api: host.url, repository: "shop", number }, null, 2)}\n`;

  test("can come from a file and from standard input; the same once more changes nothing", async () => {
    writeFileSync(join(project, "wanted.json"), `\ufeff${wanted(8)}`);
    expect(await apply("@wanted.json")).toMatchObject({ code: 0, stdout: expect.stringContaining("generation 1") });
    expect(await apply("-", wanted(8))).toMatchObject({ code: 0, stdout: expect.stringContaining("generation 1") });
    expect(await apply("-", wanted(9))).toMatchObject({ code: 0, stdout: expect.stringContaining("generation 2") });
    const { resource } = await stage.client.call("resourceManager.get", { ...ref(), key: "shop#8" });
    expect(resource.spec).toEqual({ api: host.url, repository: "shop", number: 9 });
  });

  test.each([
    [
      EXIT.usage,
      "a file that is not there",
      "@nowhere.json",
      undefined,
      "nowhere.json cannot be read",
      "Check the path after @.",
    ],
    [
      EXIT.usage,
      "nothing on standard input",
      "-",
      "",
      "Standard input is not valid JSON",
      "Give JSON, the name of a file",
    ],
    [EXIT.usage, "JSON that ends too early", "-", '{"api":\n  "x"', "line 2", "Give JSON, the name of a file"],
    [EXIT.usage, "a key that stands twice", '{"number":1,"number":2}', undefined, '"number" stands twice', "Give JSON"],
    [EXIT.workflow, "what the manager's own schema refuses", '{"number":"seven"}', undefined, "number", ""],
  ])("%j: %s is refused with its reason, and nothing changes", async ({ code }, _what, spec, stdin, reason, remedy) => {
    const before = await stage.client.call("resourceManager.get", { ...ref(), key: "shop#8" });
    const refused = await apply(spec, stdin);
    expect(refused.code).toBe(code);
    expect(refused.stdout).toBe("");
    expect(refused.stderr.replace(/\s+/g, " ")).toContain(reason);
    expect(refused.stderr.replace(/\s+/g, " ")).toContain(remedy);
    const after = await stage.client.call("resourceManager.get", { ...ref(), key: "shop#8" });
    expect(after.resource.metadata.generation).toBe(before.resource.metadata.generation);
  });
});
