/**
 * From a launch document to a workflow that may run: what was approved is verified before anything of it is imported,
 * the file is loaded, and its identity is told.
 */
import type { DefinitionSnapshot, SourceFile } from "../contracts/definition.ts";
import { HoldpointError, isHoldpointError, messageOf, stackOf } from "../contracts/errors.ts";
import { VALUE } from "../contracts/limits.ts";
import type { RunnerLaunch } from "../contracts/protocol/runner.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import { failureOf } from "../workflow/engine/index.ts";
import * as workflowModule from "../workflow/index.ts";
import { definitionDigest } from "../workflow/rules/index.ts";
import { parseInput, titleOf } from "./describe.ts";
import { loadModule, namedWorkflows, SourceView } from "./loading/index.ts";
import { approvedFiles, changedOnDisk, checkCount, rootOf, sourceChanged } from "./sources.ts";

const { isWorkflow, snapshotOf } = workflowModule;

/** Names under which a workflow file reaches the engine that runs it; those after the first are of the earlier system. */
const ENGINE_NAMES = ["holdpoint", "@osolmaz/pi-workflows", "@osolmaz/pi-workflows/job-progress"] as const;

export interface LoadedWorkflow {
  readonly kind: "loaded";
  readonly definition: workflowModule.WorkflowDefinition;
  readonly snapshot: DefinitionSnapshot;
  readonly digest: string;
  readonly sources: SourceFile[];
  readonly input: JsonValue;
  /** Whether the input parser made `input` in this load. */
  readonly parsed: boolean;
  readonly title: string | null;
  /** The working folder in which it was loaded. */
  readonly cwd: string;
}
export type Loaded = LoadedWorkflow | { readonly kind: "failed" | "changed"; readonly error: HoldpointError };

/** What a load needs of a launch. */
export type LoadRequest = Pick<
  RunnerLaunch,
  "projectPath" | "workflowPath" | "sources" | "sourcesDir" | "definitionDigest" | "input" | "inputParsed" | "cacheDir"
>;

/** Loads for a launch. Never rejects for anything that the workflow or its author did. */
export async function loadWorkflow(launch: LoadRequest): Promise<Loaded> {
  try {
    return await load(launch);
  } catch (error) {
    if (!isHoldpointError(error)) throw error;
    if (error.kind === "workflowSourceChanged") return { kind: "changed", error };
    if (launch.sources === null) return { kind: "failed", error };
    // The same bytes were loaded before: something around them (packages, data files, the folder) is not what it was.
    const changed = await changedOnDisk(launch.sources);
    return { kind: "changed", error: changed ?? notAsBefore(launch.workflowPath, error) };
  }
}

function notAsBefore(path: string, error: HoldpointError): HoldpointError {
  const { details, message } = error;
  return new HoldpointError(
    "workflowSourceChanged",
    `${path} cannot be loaded any more as when the run started: ${message}`.slice(0, VALUE.errorChars),
    { cause: error, ...(details === undefined ? {} : { details }) },
  );
}

async function load(launch: LoadRequest): Promise<LoadedWorkflow> {
  const approved = launch.sources === null ? null : await approvedFiles(launch.sources, launch.sourcesDir ?? null);
  const cwd = enter(launch.projectPath);
  const path = await rootOf(launch.workflowPath, approved);
  const named = await namedWorkflows(cwd, approved);
  const { definition, files: sources } = await evaluate(path, launch.cacheDir, new SourceView(approved), named);
  checkCount(sources);
  const snapshot = snapshotOf(definition);
  const digest = definitionDigest(snapshot);
  if (launch.definitionDigest !== null && launch.definitionDigest !== digest) {
    throw sourceChanged(path, "gives another graph than when the run started");
  }
  const parsed = launch.inputParsed !== true && definition.input !== undefined;
  const input = parsed ? parseInput(definition, launch.input) : launch.input;
  const title = launch.sources === null ? await titleOf(definition, input) : null;
  return { kind: "loaded", definition, snapshot, digest, sources, input, parsed, title, cwd };
}

/** User code finds the project as its working folder, as if it had been started there. */
function enter(projectPath: string): string {
  try {
    process.chdir(projectPath);
    return process.cwd();
  } catch (error) {
    throw new HoldpointError(
      "workflowLoad",
      `The project folder ${projectPath} cannot be entered: ${messageOf(error)}.`,
    );
  }
}

async function evaluate(
  path: string,
  cacheDir: string | null,
  view: SourceView,
  named: Readonly<Record<string, string>>,
): Promise<{ definition: workflowModule.WorkflowDefinition; files: SourceFile[] }> {
  const modules = Object.fromEntries(ENGINE_NAMES.map((name) => [name, workflowModule]));
  let loaded: Awaited<ReturnType<typeof loadModule>>;
  try {
    loaded = await loadModule(path, modules, named, cacheDir, view);
  } catch (error) {
    if (view.hidden !== undefined) throw sourceChanged(view.hidden, "is loaded now, but was not when the run started");
    throw loadError(path, error);
  }
  const definition = (loaded.exports as { default?: unknown } | null | undefined)?.default;
  if (isWorkflow(definition)) return { definition, files: loaded.files };
  throw new HoldpointError("workflowLoad", `${path} does not export a workflow as default.`, {
    remedy: "Write `export default defineWorkflow({ … })`.",
    details: { path },
  });
}

function loadError(path: string, error: unknown): HoldpointError {
  const stack = stackOf(error);
  const place = stack?.split(path)[1]?.match(/^:\d+(?::\d+)?/)?.[0] ?? "";
  // A definition that breaks a rule says so itself, but not where: a node does not know its name while it is made.
  if (isHoldpointError(error))
    return place === "" ? error : new HoldpointError(error.kind, `${error.message} (${path}${place})`, restOf(error));
  return new HoldpointError("workflowLoad", `${path}${place} cannot be loaded: ${messageOf(error).slice(0, 4_000)}`, {
    details: stack === undefined ? { path } : { path, stack: failureOf(error, path).details?.["stack"] },
  });
}

function restOf({ cause, details, remedy }: HoldpointError): ConstructorParameters<typeof HoldpointError>[2] {
  return { remedy, ...(cause === undefined ? {} : { cause }), ...(details === undefined ? {} : { details }) };
}
