// The built-in implementation on a real git repository: where edits land, what a failing verification leads to, and that no crash repeats
// a commit. The agent is a script that writes where it was started.
import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import autoimplement from "holdpoint/builtins/autoimplement";
import { each, startWorkflow, type TestOptions, type TestRun } from "holdpoint/testing";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const run = promisify(execFile);
const ENV = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_SYSTEM: "/dev/null" };

let folder: string;
let repository: string;
const git = async (cwd: string, ...args: string[]): Promise<string> =>
  (await run("git", args, { cwd, env: ENV })).stdout.trim();

beforeEach(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "holdpoint-implement-")));
  repository = join(folder, "shop");
  await run("git", ["init", "--quiet", "-b", "main", repository], { env: ENV });
  writeFileSync(join(repository, "total.txt"), "1\n");
  await git(repository, "add", ".");
  await git(repository, "-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "--quiet", "-m", "First");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Spec {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd?: string | undefined;
}
/** Commands are really run. */
async function shell({ args = [], command, cwd }: Spec): Promise<object> {
  try {
    const { stderr, stdout } = await run(command, [...args], { ...(cwd === undefined ? {} : { cwd }), env: ENV });
    return { exitCode: 0, stdout, stderr };
  } catch (error) {
    const { code, stderr = "", stdout = "" } = error as { code?: number; stdout?: string; stderr?: string };
    return { exitCode: typeof code === "number" ? code : 1, stdout, stderr };
  }
}

interface Step {
  readonly cwd?: string;
}
/** An agent that writes a total into its working folder. */
const writes =
  (total: string) =>
  ({ cwd = "/no/folder" }: Step): object => {
    writeFileSync(join(cwd, "total.txt"), `${total}\n`);
    return { outcome: "done", summary: `The total is ${total}.` };
  };

const VERIFY = [{ id: "total", command: "grep", args: ["-x", "2", "total.txt"] }, "echo seen >&2"];

let runs = 0;
function start(agents: TestOptions["agents"], input: object = {}, hooks: { shell?: typeof shell } = {}): TestRun {
  return startWorkflow(autoimplement, {
    // As on a server: no two runs have one id, and so no two workspaces one name.
    runId: `run-${++runs}`,
    input: { task: "The total is 2", repository, verify: VERIFY, ...input },
    agents: agents ?? {},
    shell: (hooks.shell ?? shell) as never,
  });
}

interface Ended {
  readonly workspace: { readonly folder: string; readonly branch: string; readonly base: string };
  readonly commit?: string | null;
  readonly files?: string[];
  readonly reason?: string;
  readonly repairs: number;
  readonly verification: { passed: boolean; checks: { id: string; outcome: string; output: string }[] } | null;
}
const ended = (of: TestRun): Ended => of.output as unknown as Ended;

describe("autoimplement", () => {
  it("works in a worktree of its own: the repository's folder and branch stay as they are", async () => {
    const before = await git(repository, "rev-parse", "HEAD");
    const done = await start({ implement: writes("2") }).settled();
    expect(done.order).toEqual(["prepare", "implement", "classify", "verify", "judge", "commit", "completed"]);
    const { commit, files, verification, workspace } = ended(done);
    expect([files, verification?.passed, workspace.base]).toEqual([["total.txt"], true, before]);
    expect(workspace.branch).toMatch(/^holdpoint\/[0-9a-f]{10}$/);
    expect(await git(repository, "show", `${workspace.branch}:total.txt`)).toBe("2");
    expect(await git(repository, "rev-parse", workspace.branch)).toBe(commit);
    expect(await git(repository, "log", "-1", "--format=%s", workspace.branch)).toBe("The total is 2");

    expect(readFileSync(join(repository, "total.txt"), "utf8")).toBe("1\n");
    expect(await git(repository, "status", "--porcelain")).toBe("");
    expect(await git(repository, "rev-parse", "main")).toBe(before);
    expect(workspace.folder.startsWith(`${repository}/`)).toBe(false);
  });

  it("repairs what verification finds, with what it said before the agent's eyes", async () => {
    const done = await start({ implement: writes("3"), repair: each([writes("4"), writes("2")]) }).settled();
    expect(done.order.filter((node) => node === "verify")).toHaveLength(3);
    expect(ended(done)).toMatchObject({ repairs: 2, verification: { passed: true }, files: ["total.txt"] });
    const repair = done.prompts.find(({ nodeId }) => nodeId === "repair")?.text;
    expect(repair).toContain('"id": "total"');
    expect(repair).toContain("never weaken a check");
  });

  it("is blocked after a bounded number of repairs, with the output, and commits nothing", async () => {
    const verify = ["cat total.txt; echo too large >&2; exit 3"];
    for (const maxRepairs of [0, 2]) {
      const done = await start({ implement: writes("3"), repair: writes("4") }, { verify, maxRepairs }).settled();
      const { reason, repairs, verification, workspace } = ended(done);
      expect([done.status, done.order.at(-1), repairs]).toEqual(["completed", "blocked", maxRepairs]);
      expect(reason).toBe(`Verification fails after ${maxRepairs} repairs: check-1`);
      expect(verification?.checks).toEqual([
        { id: "check-1", outcome: "failed", exitCode: 3, output: `${maxRepairs === 0 ? 3 : 4}\n\ntoo large` },
      ]);
      expect(await git(repository, "rev-parse", workspace.branch)).toBe(workspace.base);
      expect(existsSync(join(workspace.folder, "total.txt"))).toBe(true);
    }
  });

  it("runs every command of the verification, also after one has failed", async () => {
    const done = await start({ implement: writes("3") }, { maxRepairs: 0 }).settled();
    expect(ended(done).verification?.checks.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
      "total failed",
      "check-2 succeeded",
    ]);
  });

  it.each([
    [
      "the agent says so",
      { implement: { outcome: "blocked", summary: "No access." } },
      "The agent is blocked: No access.",
    ],
    ["the agent fails", { implement: () => Promise.reject(new Error("no model")) }, /^The agent failed: .*no model/],
  ])("is blocked when %s", async (_what, agents, reason) => {
    const done = await start(agents).settled();
    expect([done.order.at(-1), ended(done).reason]).toEqual(["blocked", expect.stringMatching(reason)]);
  });

  it.each([
    ["there is no repository", () => ({ repository: folder }), /^The workspace could not be made: .*git rev-parse/],
    ["the base is no commit", () => ({ base: "nowhere" }), /The workspace could not be made/],
    ["the branch exists", () => ({ branch: "main" }), /already exists/],
  ])("is blocked when %s, before any agent works", async (_what, input, reason) => {
    const done = await start({}, input()).settled();
    expect(done.prompts).toEqual([]);
    expect(ended(done).reason).toMatch(reason);
  });

  it("needs something to do and a way to verify it", () => {
    for (const wrong of [
      { task: undefined },
      { verify: [] },
      { verify: undefined },
      { base: "--all" },
      { maxRepairs: 6 },
    ])
      expect(() => start({}, wrong)).toThrow(expect.objectContaining({ kind: "inputInvalid" }) as Error);
  });

  it("says that nothing was changed, without a commit", async () => {
    const idle = { outcome: "done", summary: "It is so already." };
    const done = await start({ implement: idle }, { verify: ["true"] }).settled();
    expect(ended(done)).toMatchObject({ commit: null, files: [] });
  });
});

describe("killed at any moment", () => {
  /** Where the process dies, by the command that is about to run or has just run. */
  const moments = [
    ["before the branch is made", "update-ref", "before"],
    ["after the branch was made", "update-ref", "after"],
    ["after the worktree was made", "add --quiet", "after"],
    ["before the verification", "grep", "before"],
    ["after the verification", "grep", "after"],
    ["before the commit", "commit", "before"],
    ["after the commit", "commit", "after"],
  ] as const;

  const branches = [
    ["", {}, /^holdpoint\//],
    [" on a branch of a given name", { branch: "totals" }, /^totals$/],
  ] as const;
  const all = branches.flatMap(([where, input, branch]) =>
    moments.map(([what, word, when]) => [`${what}${where}`, word, when, input, branch] as const),
  );

  it.each(all)("%s, it goes on and commits once", async (_what, word, when, input, branch) => {
    let deaths = 0;
    const dying = async (spec: Spec): Promise<object> => {
      const line = [spec.command, ...(spec.args ?? [])].join(" ");
      const hit = deaths === 0 && line.includes(word);
      if (hit) deaths += 1;
      if (hit && when === "before") playing.crash();
      const result = hit && when === "before" ? {} : await shell(spec);
      if (hit && when === "after") playing.crash();
      return result;
    };
    const playing = start({ implement: writes("2") }, input, { shell: dying });
    await playing.settled();
    expect(deaths).toBe(1);
    const { commit, workspace } = ended(playing);
    expect([playing.status, commit]).toEqual(["completed", expect.stringMatching(/^[0-9a-f]{40}$/)]);
    expect(workspace.branch).toMatch(branch);
    expect(await git(repository, "rev-list", "--count", `main..${workspace.branch}`)).toBe("1");
    expect(await git(repository, "worktree", "list")).toContain(workspace.folder);
    expect((await git(repository, "worktree", "list")).split("\n")).toHaveLength(2);
    expect((await git(repository, "for-each-ref", "refs/heads")).split("\n")).toHaveLength(2);
  });

  it("takes no branch that somebody else made in the meantime", async () => {
    let deaths = 0;
    const dying = async (spec: Spec): Promise<object> => {
      if (deaths > 0 || spec.args?.includes("update-ref") !== true) return shell(spec);
      deaths += 1;
      await git(repository, "branch", "totals");
      playing.crash();
      return {};
    };
    const playing = start({ implement: writes("2") }, { branch: "totals" }, { shell: dying });
    await playing.settled();
    expect(ended(playing).reason).toMatch(/"totals" already exists/);
    expect(await git(repository, "rev-parse", "totals")).toBe(await git(repository, "rev-parse", "main"));
  });

  it("while git commits, what git left locked holds nothing up", async () => {
    let deaths = 0;
    const dying = async (spec: Spec): Promise<object> => {
      if (deaths > 0 || spec.args?.includes("commit") !== true) return shell(spec);
      deaths += 1;
      for (const lock of ["index.lock", "HEAD.lock"])
        writeFileSync(await git(spec.cwd ?? "", "rev-parse", "--path-format=absolute", "--git-path", lock), "");
      playing.crash();
      return {};
    };
    const playing = start({ implement: writes("2") }, {}, { shell: dying });
    await playing.settled();
    expect([deaths, ended(playing).files]).toEqual([1, ["total.txt"]]);
  });

  it("while an agent works, the agent goes on in the same workspace", async () => {
    let times = 0;
    const agent = (step: Step): object => {
      times += 1;
      if (times === 1) {
        writeFileSync(join(step.cwd ?? "", "half.txt"), "begun\n");
        playing.crash();
      }
      return writes("2")(step);
    };
    const playing = start({ implement: agent });
    await playing.settled();
    expect(times).toBe(2);
    expect(playing.prompts.map(({ reason }) => reason)).toEqual(["initial", "resumed"]);
    expect(ended(playing).files).toEqual(["half.txt", "total.txt"]);
  });
});
