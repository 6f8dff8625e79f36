/** The built-in implementation with real Pi: where its tools work, and what a failing verification leads to. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { serve } from "../service.ts";
import { bash, list, submit, type Case } from "./case.ts";

const done = { outcome: "done", summary: "The total is right." };

export const implementing: readonly Case[] = [
  {
    name: "autoimplement: the tools of the agent work in the prepared worktree only, and a failing verification is repaired there",
    model: list(
      { calls: [bash("pwd > where.txt; echo 3 > total.txt")] },
      ({ requestId }) => ({ calls: [submit(requestId, done)] }),
      { calls: [bash("echo 2 > total.txt")] },
      ({ requestId }) => ({ calls: [submit(requestId, done)] }),
    ),
    run: (stage) =>
      serve(stage, async ({ client, finished }) => {
        const git = (...args: string[]): string =>
          execFileSync("git", args, { cwd: stage.cwd, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
        git("init", "--quiet", "-b", "main");
        writeFileSync(stage.path("total.txt"), "1\n");
        writeFileSync(stage.path(".gitignore"), "plan.workflow.ts\n");
        git("add", ".");
        git("-c", "user.name=Ann", "-c", "user.email=ann@example.org", "commit", "--quiet", "-m", "First");
        const { runId } = await client.call("run.start", {
          workflow: "autoimplement",
          workflowPath: "builtin:autoimplement@1",
          projectPath: stage.cwd,
          input: { task: "The total is 2", verify: ["grep -qx 2 total.txt"] },
        });
        const view = await finished(runId);
        const { commit, files, repairs, workspace } = view.finalOutput as unknown as {
          commit: string;
          files: string[];
          repairs: number;
          workspace: { branch: string; folder: string };
        };
        assert.equal(view.run.status, "completed", JSON.stringify(view.error));
        assert.deepEqual([files, repairs], [["total.txt", "where.txt"], 1]);
        assert.equal(git("rev-parse", workspace.branch), commit);
        assert.equal(git("show", `${workspace.branch}:where.txt`), workspace.folder);
        assert.equal(git("show", `${workspace.branch}:total.txt`), "2");
        // The project's own folder is as it was.
        assert.equal(git("status", "--porcelain"), "");
        assert.equal(readFileSync(stage.path("total.txt"), "utf8"), "1\n");
        assert.match(stage.model.requests[2]?.last ?? "", /did not pass its verification/);
      }),
  },
];
