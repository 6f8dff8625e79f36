// A temporary folder with workflow files, and the launch document for one of them.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { RunnerLaunch } from "../../src/contracts/protocol/runner.ts";

export interface Folder {
  readonly path: string;
  /** Writes a file; returns its absolute path. */
  put(name: string, text: string): string;
  launch(workflow: string, more?: Partial<RunnerLaunch>): RunnerLaunch;
  remove(): void;
}

export function makeFolder(): Folder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "runner-")));
  const back = process.cwd();
  return {
    path,
    put(name, text) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text);
      return file;
    },
    launch: (workflow, more = {}) => ({
      type: "launch",
      schema: "holdpoint.runner-launch.v1",
      protocol: 1,
      runId: "run-1",
      generation: 1,
      runnerEpoch: "r-1",
      command: "start",
      projectPath: path,
      workflowPath: join(path, workflow),
      sources: null,
      definitionDigest: null,
      input: null,
      cacheDir: null,
      ...more,
    }),
    remove() {
      // Loading enters the project folder.
      process.chdir(back);
      rmSync(path, { recursive: true, force: true });
    },
  };
}

/** The text of a workflow file with one compute node `a`. */
export function oneNode(run: string, more = ""): string {
  return `import { compute, defineWorkflow } from "holdpoint";
${more}
export default defineWorkflow({ name: "one", startAt: "a", nodes: { a: compute({ run: ${run} }) } });
`;
}
