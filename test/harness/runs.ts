/** Runs as a client sees them: started by path, waited for by their views. */
import { resolve } from "node:path";

import { connect, type HoldpointClient, type OperationResult, type RunView } from "../../src/client/index.ts";
import type { JsonValue } from "../../src/contracts/protocol/shared.ts";
import type { TestHome } from "./home.ts";
import { HANG_MS, ROOT } from "./paths.ts";
import type { Scope } from "./scope.ts";

/** A client of the server of a home; closed with the scope. It connects again by itself after a restart. */
export async function client(scope: Scope, home: TestHome, clientId?: string): Promise<HoldpointClient> {
  const opened = await connect({ home: home.dir, clientId });
  scope.add(() => opened.close());
  return opened;
}

/** Starts a workflow file; a relative path is seen from the repository. */
export function startRun(
  from: HoldpointClient,
  path: string,
  input: JsonValue = {},
  idempotencyKey?: string,
): Promise<OperationResult<"run.start">> {
  const workflowPath = resolve(ROOT, path);
  const name = workflowPath.slice(workflowPath.lastIndexOf("/") + 1).replace(/\.workflow\.[cm]?[jt]s$/, "");
  return from.call("run.start", { workflow: name, workflowPath, projectPath: ROOT, input }, { idempotencyKey });
}

/**
 * The first view of a run that satisfies the predicate. Goes on over restarts of the server.
 *
 * @param what is being waited for; part of the error
 */
export async function waitForRun(
  from: HoldpointClient,
  run: string,
  predicate: (view: RunView) => boolean,
  what = "the expected state",
): Promise<RunView> {
  let last: RunView | undefined;
  let timer: NodeJS.Timeout | undefined;
  let stop = (): void => {};
  try {
    return await new Promise<RunView>((resolveView, reject) => {
      timer = setTimeout(() => reject(new Error(`run ${run}: ${what} did not come. ${describe(last)}`)), HANG_MS);
      const onView = (view: RunView): void => {
        last = view;
        if (predicate(view)) resolveView(view);
      };
      // The server under test is killed and started again; a test must not wait out a long backoff.
      const watch = from.watchRun(run, onView, { random: () => 0.05 });
      stop = () => watch.stop();
      watch.done.catch(reject);
    });
  } finally {
    clearTimeout(timer);
    stop();
  }
}

function describe(view: RunView | undefined): string {
  if (view === undefined) return "No view came at all.";
  const { run, timeline, error, nextStep } = view;
  const events = timeline.slice(-12).map((item) => item.type);
  return `Last: ${JSON.stringify({ status: run.status, reason: run.reason, node: run.currentNode, error, nextStep, events })}`;
}
