/** Starts the repairs that people, or monitors by their own authority, want: finds the workflow's file and asks for the run. */
import { findWorkflow } from "../../contracts/discovery.ts";
import { messageOf } from "../../contracts/errors.ts";
import type { MonitorRow } from "../../state/store.ts";
import type { MonitorsDeps } from "./monitors.ts";

/** As the store names the alerts of monitors. */
const GROUP_PREFIX = "monitor:";
/** A person's own folder is no project; what belongs to none is looked for beside the user's workflows. */
const NO_PROJECT = "/";

export class Repairs {
  readonly #deps: Pick<MonitorsDeps, "access" | "store" | "log" | "wake">;

  constructor(deps: Pick<MonitorsDeps, "access" | "store" | "log" | "wake">) {
    this.#deps = deps;
  }

  /** Starts whatever is wanted; a file that is not found is told, and asking again is possible. */
  async run(): Promise<void> {
    const { access, log, store, wake } = this.#deps;
    for (const { alertId, by, episode, groupKey } of store.read.alerts.repairsAsked()) {
      if (!groupKey.startsWith(GROUP_PREFIX)) continue;
      const monitor = groupKey.slice(GROUP_PREFIX.length);
      const wish = { alertId, episode };
      const verdict = await store.monitors.askRepair({ monitor, by: by ?? "somebody", wish, access: access() });
      log.info({ monitor, verdict }, "somebody asked for a repair");
    }
    for (const monitor of store.read.monitors.toRepair()) {
      const { monitorNo, name, repair } = monitor;
      if (repair === null) continue;
      const workflow = await located(monitor);
      const { runId } = await store.monitors.startRepair({
        monitorNo,
        since: repair.since,
        workflow,
        access: access(),
      });
      if ("error" in workflow) log.error({ monitor: name, error: workflow.error }, "a repair could not be started");
      else log.info({ monitor: name, run: runId }, "a repair was started");
      wake.runs();
      wake.channels();
    }
  }
}

type Located =
  | { readonly name: string; readonly path: string; readonly projectPath: string }
  | { readonly error: string };

async function located({ spec }: MonitorRow): Promise<Located> {
  const { remediation } = spec;
  if (remediation === undefined) return { error: "the monitor names no workflow any more" };
  const projectPath = remediation.project ?? NO_PROJECT;
  try {
    const { name, path } = await findWorkflow(remediation.workflow, { projectPath });
    return { name, path, projectPath };
  } catch (error) {
    return { error: messageOf(error) };
  }
}
