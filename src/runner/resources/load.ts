/**
 * From a file to a resource manager. The passes of one process use one evaluation of the same approved bytes: module variables are a
 * cache at best, never a place for facts.
 */
import { realpath } from "node:fs/promises";
import type { SourceFile } from "../../contracts/definition.ts";
import { HoldpointError, isHoldpointError, messageOf } from "../../contracts/errors.ts";
import type { ReconcileLaunch } from "../../contracts/protocol/resource-runner.ts";
import * as resourceModule from "../../resource/index.ts";
import * as workflowModule from "../../workflow/index.ts";
import { loadModule, SourceView } from "../loading/index.ts";
import { approvedFiles, checkCount, rootOf } from "../sources.ts";

export interface LoadedManager {
  readonly manager: resourceModule.ResourceManager;
  readonly sources: SourceFile[];
  /** The working folder in which it was loaded. */
  readonly cwd: string;
}

let last: { readonly key: string; readonly loaded: LoadedManager } | undefined;

/** The manager that was approved. Throws `managerSourceChanged`, `managerLoad`. */
export async function loadApproved(launch: ReconcileLaunch): Promise<LoadedManager> {
  const { cacheDir, path, projectPath, sources, sourcesDir } = launch;
  const key = JSON.stringify([projectPath, path, sources]);
  if (last?.key === key) {
    enter(projectPath);
    return last.loaded;
  }
  try {
    const approved = await approvedFiles(sources, sourcesDir);
    const loaded = await load(await rootOf(path, approved), projectPath, cacheDir, new SourceView(approved));
    last = { key, loaded };
    return loaded;
  } catch (error) {
    throw isHoldpointError(error) && error.kind === "workflowSourceChanged"
      ? new HoldpointError("managerSourceChanged", error.message, { cause: error })
      : error;
  }
}

/** The manager in a file as it is now, for `apply`. Throws `managerLoad`. */
export async function loadNew(
  path: string,
  projectPath: string,
  cacheDir: string | null,
): Promise<LoadedManager & { readonly path: string }> {
  const real = await realpath(path);
  return { ...(await load(real, projectPath, cacheDir, new SourceView(null))), path: real };
}

async function load(
  path: string,
  projectPath: string,
  cacheDir: string | null,
  view: SourceView,
): Promise<LoadedManager> {
  const cwd = enter(projectPath);
  const modules = {
    holdpoint: workflowModule,
    "@osolmaz/pi-workflows": workflowModule,
    "holdpoint/resource-managers": resourceModule,
    "@osolmaz/pi-workflows/resource-managers": resourceModule,
  };
  let exported: unknown;
  let files: SourceFile[];
  try {
    const loaded = await loadModule(path, modules, {}, cacheDir, view);
    exported = (loaded.exports as { default?: unknown } | null | undefined)?.default;
    ({ files } = loaded);
  } catch (error) {
    if (isHoldpointError(error)) throw error;
    throw new HoldpointError("managerLoad", `${path} cannot be loaded: ${messageOf(error).slice(0, 4_000)}`, {
      cause: error,
      details: { path },
    });
  }
  if (!resourceModule.isResourceManager(exported))
    throw new HoldpointError("managerLoad", `${path} does not export a resource manager as default.`, {
      details: { path },
    });
  checkCount(files);
  return { manager: exported, sources: files, cwd };
}

/** User code finds the project as its working folder. */
function enter(projectPath: string): string {
  try {
    process.chdir(projectPath);
    return process.cwd();
  } catch (error) {
    throw new HoldpointError(
      "managerLoad",
      `The project folder ${projectPath} cannot be entered: ${messageOf(error)}.`,
    );
  }
}
