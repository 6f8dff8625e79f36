/**
 * Finding workflow files: by name in three places, or by path. Only names and paths are looked at; nothing is loaded.
 * Here because clients find the file and the server only gets its path.
 */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { BUILTINS_FOLDER, newestRevisions } from "./builtins.ts";
import { HoldpointError } from "./errors.ts";
import { ID_PATTERN } from "./ids.ts";
import { RESERVED_WORKFLOW_NAMES } from "./workflow-words.ts";

/** A workflow file ends in one of these; where one folder has several of one stem, the earlier suffix wins. */
export const WORKFLOW_SUFFIXES = [".workflow.ts", ".workflow.mts", ".workflow.js", ".workflow.mjs"] as const;

export { RESERVED_WORKFLOW_NAMES };

export type WorkflowOrigin = "project" | "user" | "builtin" | "path";

export interface WorkflowFile {
  /** The stem of the file, by which commands call it. */
  readonly name: string;
  /** Absolute, as found, links are not followed; of a built-in one `builtin:<id>@<revision>`. */
  readonly path: string;
  readonly origin: WorkflowOrigin;
}

/** Where to look. Everything has a default: this process and this user. */
export interface WorkflowPlaces {
  /** The project folder, which paths are relative to. */
  readonly projectPath?: string;
  /** The user's home folder. */
  readonly userHome?: string;
  readonly builtins?: string;
}

/**
 * Every workflow that a name can reach, sorted by name. The project's hide the user's, and these hide the built-in ones.
 * Files with a reserved or unusable name are left out; a folder that does not exist is empty.
 *
 * @throws HoldpointError `workflowNotFound` when a folder exists but cannot be read.
 */
export async function listWorkflows(places: WorkflowPlaces = {}): Promise<WorkflowFile[]> {
  const found = new Map<string, WorkflowFile>();
  for (const { origin, path } of foldersOf(places)) {
    for (const file of await filesIn(path, origin)) {
      if (!RESERVED_WORKFLOW_NAMES.has(file.name) && !found.has(file.name)) found.set(file.name, file);
    }
  }
  return [...found.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/**
 * The file that a person named: `deploy` is looked for in the project (`.pi/workflows`), then for the user
 * (`~/.pi/agent/workflows`), then among the built-in ones; anything with a slash or a suffix is a path.
 *
 * @throws HoldpointError `workflowNotFound`; `details.names` are the names that would be found, for a suggestion.
 */
export async function findWorkflow(given: string, places: WorkflowPlaces = {}): Promise<WorkflowFile> {
  if (looksLikePath(given)) return fileAt(given, places);
  if (RESERVED_WORKFLOW_NAMES.has(given)) {
    throw new HoldpointError(
      "workflowNotFound",
      `"${given}" is a word of the workflow command and names no workflow.`,
      {
        remedy: "Give the file another name, or give its path.",
        details: { name: given },
      },
    );
  }
  const known = await listWorkflows(places);
  const file = known.find(({ name }) => name === given);
  if (file !== undefined) return file;
  throw new HoldpointError("workflowNotFound", `No workflow "${given}" in ${ownFolders(places).join(" or ")}.`, {
    details: { name: given, names: known.map(({ name }) => name) },
  });
}

/** The name of a workflow file, or undefined if the file name has no workflow suffix or an unusable stem. */
export function workflowNameOf(fileName: string): string | undefined {
  const suffix = WORKFLOW_SUFFIXES.find((candidate) => fileName.endsWith(candidate));
  if (suffix === undefined) return undefined;
  const stem = fileName.slice(0, -suffix.length);
  return ID_PATTERN.name.test(stem) ? stem : undefined;
}

function looksLikePath(given: string): boolean {
  return given.includes("/") || given.startsWith("~") || WORKFLOW_SUFFIXES.some((suffix) => given.endsWith(suffix));
}

async function fileAt(given: string, places: WorkflowPlaces): Promise<WorkflowFile> {
  const home = places.userHome ?? homedir();
  const expanded = given === "~" || given.startsWith("~/") ? join(home, given.slice(1)) : given;
  const path = isAbsolute(expanded) ? resolve(expanded) : resolve(places.projectPath ?? process.cwd(), expanded);
  const refuse = (why: string, remedy?: string): HoldpointError =>
    new HoldpointError("workflowNotFound", `${path} ${why}.`, {
      details: { path },
      ...(remedy === undefined ? {} : { remedy }),
    });
  const name = workflowNameOf(path.slice(path.lastIndexOf("/") + 1));
  const isFile = await stat(path).then(
    (stats) => stats.isFile(),
    () => undefined,
  );
  if (isFile === undefined) throw refuse("does not exist");
  if (!isFile) throw refuse("is not a file");
  if (name === undefined) throw refuse("is not named like a workflow", `Name the file <name>${WORKFLOW_SUFFIXES[0]}.`);
  return { name, path, origin: "path" };
}

/** Where people's own workflows are looked for by name, first things first. */
export function ownFolders(places: WorkflowPlaces = {}): string[] {
  return foldersOf(places)
    .filter(({ origin }) => origin !== "builtin")
    .map(({ path }) => path);
}

function foldersOf(places: WorkflowPlaces): { origin: WorkflowOrigin; path: string }[] {
  const { builtins, projectPath = process.cwd(), userHome = homedir() } = places;
  return [
    { origin: "project", path: join(projectPath, ".pi", "workflows") },
    { origin: "user", path: join(userHome, ".pi", "agent", "workflows") },
    { origin: "builtin", path: builtins ?? BUILTINS_FOLDER },
  ];
}

async function filesIn(folder: string, origin: WorkflowOrigin): Promise<WorkflowFile[]> {
  const entries = await entriesOf(folder);
  if (origin === "builtin")
    return newestRevisions(entries.map((entry) => entry.name)).map(({ id, name }) => ({
      name: id,
      path: name,
      origin,
    }));
  const names = entries.filter((entry) => entry.isFile() || entry.isSymbolicLink()).map((entry) => entry.name);
  const rank = (name: string): number => WORKFLOW_SUFFIXES.findIndex((suffix) => name.endsWith(suffix));
  const byName = new Map<string, WorkflowFile>();
  for (const fileName of names.toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1))) {
    const name = workflowNameOf(fileName);
    if (name !== undefined && !byName.has(name)) byName.set(name, { name, path: join(folder, fileName), origin });
  }
  return [...byName.values()];
}

/** What is in a folder; nothing when there is none. */
async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    if (code === "ENOENT" || code === "ENOTDIR") return [];
    throw new HoldpointError("workflowNotFound", `${folder} cannot be read: ${code ?? String(error)}.`, {
      remedy: "Make the folder readable for this user.",
      details: { path: folder },
    });
  }
}
