/** The prepared workspace: a git worktree on a branch of its own, so that nothing of the repository's own folder is touched. */
import { rm } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { sha256Digest, type ActionContext } from "holdpoint";
import type { Committed, Input, Workspace } from "./input.ts";

type Context = ActionContext<Input>;

/** In the message of a commit: which effect made it. */
const TRAILER = "Holdpoint-Effect";
const FILES = 200;
/** How git ends when it will not do something. */
const REFUSED = 128;

/** Runs git and resolves with what it wrote. Throws with its message for another exit code than those that are fine. */
async function git(context: Context, cwd: string, args: string[], fine: readonly number[] = [0]): Promise<GitResult> {
  const { exitCode, startError, stderr, stdout } = await context.runCommand({
    command: "git",
    args,
    cwd,
    timeoutMs: 240_000,
  });
  if (startError !== undefined) throw new Error(`git cannot be started: ${startError}`);
  if (exitCode !== null && fine.includes(exitCode)) return { exitCode, text: stdout.trim() };
  throw new Error(`git ${args[0]} in ${cwd} ended with ${exitCode}: ${(stderr || stdout).trim().slice(0, 2_000)}`);
}
interface GitResult {
  readonly exitCode: number;
  readonly text: string;
}

/**
 * Makes the worktree. Repeated after an interruption it begins anew: nothing was done in the folder before this step has ended. Throws
 * when there is no repository, no such commit, or the branch exists.
 */
export async function prepareWorkspace(context: Context): Promise<Workspace> {
  const { effect, input } = context;
  const { text: repository } = await git(context, resolve(input.repository), ["rev-parse", "--show-toplevel"]);
  const { text: base } = await git(context, repository, ["rev-parse", "--verify", `${input.base}^{commit}`]);
  const id = sha256Digest(effect.key).slice("sha256:".length).slice(0, 10);
  const branch = input.branch ?? `holdpoint/${id}`;
  // Beside the repository: tools that walk it must not find a second copy of everything.
  const folder = join(dirname(repository), `.${basename(repository)}-holdpoint`, id);
  if (effect.attempt > 1) {
    await git(context, repository, ["worktree", "remove", "--force", "--force", folder], [0, 128]);
    await rm(folder, { recursive: true, force: true });
    await git(context, repository, ["worktree", "prune"]);
    await dropLocks(context, repository, [`refs/heads/${branch}.lock`]);
    if (await isUntouched(context, repository, branch)) await git(context, repository, ["branch", "-D", branch]);
  }
  await makeBranch(context, repository, branch, base);
  await git(context, repository, ["worktree", "add", "--quiet", folder, branch]);
  return { repository, folder, branch, base };
}

/** Makes the branch, with the mark in its log: after an interruption it shows whose it is. Throws when there is one of that name. */
async function makeBranch(context: Context, repository: string, branch: string, base: string): Promise<void> {
  await git(context, repository, ["check-ref-format", "--branch", branch]);
  const ref = `refs/heads/${branch}`;
  // Refused when there is one, also one that somebody has just made.
  const nothing = "0".repeat(base.length);
  const make = ["update-ref", "--create-reflog", "-m", markOf(context), ref, base, nothing];
  if ((await git(context, repository, make, [0, REFUSED])).exitCode === 0) return;
  const there = await git(context, repository, ["rev-parse", "--verify", "--quiet", ref], [0, 1]);
  if (there.exitCode === 0) throw new Error(`the branch "${branch}" already exists`);
  // Refused for another reason, which git says best.
  await git(context, repository, make);
}

/** Whether the branch is as an earlier attempt of this very effect made it, so that it may be made again. */
async function isUntouched(context: Context, repository: string, branch: string): Promise<boolean> {
  const newest = ["reflog", "show", "-1", "--format=%gs", `refs/heads/${branch}`, "--"];
  const { exitCode, text } = await git(context, repository, newest, [0, 128]);
  return exitCode === 0 && text === markOf(context);
}

function markOf({ effect }: Context): string {
  return `${TRAILER}: ${effect.idempotencyKey}`;
}

/** What git left behind when it was killed. Nobody else works in this worktree or on this branch, and our own git is gone. */
async function dropLocks(context: Context, folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) {
    const { text } = await git(context, folder, ["rev-parse", "--path-format=absolute", "--git-path", name]);
    await rm(text, { force: true });
  }
}

/** Commits what is in the workspace, marked with the effect. */
export async function commitWork(context: Context, workspace: Workspace, message: string): Promise<Committed> {
  const { base, branch, folder } = workspace;
  if (context.effect.attempt > 1)
    await dropLocks(context, folder, ["index.lock", "HEAD.lock", `refs/heads/${branch}.lock`]);
  await git(context, folder, ["add", "--all"]);
  const { exitCode } = await git(context, folder, ["diff", "--cached", "--quiet"], [0, 1]);
  if (exitCode === 1) {
    const mark = markOf(context);
    await git(context, folder, [...(await author(context, folder)), "commit", "--quiet", "-m", message, "-m", mark]);
  }
  return committed(context, base, folder);
}

/** What this effect has committed already; undefined when it has not. */
export async function findCommit(context: Context, { base, folder }: Workspace): Promise<Committed | undefined> {
  const { text } = await git(context, folder, ["log", "-1", `--format=%(trailers:key=${TRAILER},valueonly)`]);
  return text === context.effect.idempotencyKey ? committed(context, base, folder) : undefined;
}

async function committed(context: Context, base: string, folder: string): Promise<Committed> {
  const { text: head } = await git(context, folder, ["rev-parse", "HEAD"]);
  if (head === base) return { commit: null, files: [] };
  const { text: names } = await git(context, folder, ["diff", "--name-only", `${base}..HEAD`]);
  return { commit: head, files: names.split("\n").slice(0, FILES) };
}

/** A name for the commit where git has none. */
async function author(context: Context, folder: string): Promise<string[]> {
  const { text } = await git(context, folder, ["config", "user.email"], [0, 1]);
  return text === "" ? ["-c", "user.name=Holdpoint", "-c", "user.email=holdpoint@localhost"] : [];
}
