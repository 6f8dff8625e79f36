/**
 * Built-in workflows: each revision stands in a folder of its own, `<id>@<revision>/<id>.workflow`. A run knows them by
 * `builtin:<id>@<revision>`, wherever the product is installed and whichever version runs; every other file by its path.
 */
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const SCHEME = "builtin:";
/** `<id>@<revision>`. */
const REVISION = /^([a-z][a-z0-9-]{0,63})@([A-Za-z0-9][A-Za-z0-9._:-]{0,127})$/;
/** This product runs from its sources or as it was built. */
const EXTENSION = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/** Where this installation has its built-in workflows. */
export const BUILTINS_FOLDER = fileURLToPath(new URL("../builtins/", import.meta.url));
/** What `holdpoint/builtins` means in a workflow file. */
export const BUILTINS_INDEX = join(BUILTINS_FOLDER, `index${EXTENSION}`);

export interface BuiltinRevision {
  readonly id: string;
  /** `builtin:<id>@<revision>`. */
  readonly name: string;
}

export function isBuiltin(path: string): boolean {
  return path.startsWith(BUILTINS_FOLDER);
}

/** The id in a name `builtin:<id>@<revision>`, undefined for every other name. */
export function builtinIdOf(name: string): string | undefined {
  return name.startsWith(SCHEME) ? REVISION.exec(name.slice(SCHEME.length))?.[1] : undefined;
}

/** The name under which a file is approved: `builtin:<id>@<revision>`, `builtin:<file among them>` or its path. */
export function sourceName(path: string): string {
  if (!isBuiltin(path)) return path;
  const inside = path.slice(BUILTINS_FOLDER.length).split(sep).join("/");
  const [folder = ""] = inside.split("/");
  const name = SCHEME + folder;
  return sourcePlace(name) === path ? name : SCHEME + inside;
}

/** Where the file of this name stands in this installation; it need not exist. */
export function sourcePlace(name: string): string {
  if (!name.startsWith(SCHEME)) return name;
  const inside = name.slice(SCHEME.length);
  const id = builtinIdOf(name);
  return join(BUILTINS_FOLDER, id === undefined ? inside : `${inside}/${id}.workflow${EXTENSION}`);
}

/** The newest revision of each, of the names of folders among which they are. Revisions are compared as people count: 10 after 9. */
export function newestRevisions(folders: readonly string[]): BuiltinRevision[] {
  const newest = new Map<string, BuiltinRevision>();
  for (const folder of folders.toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))) {
    const name = SCHEME + folder;
    const id = builtinIdOf(name);
    if (id !== undefined) newest.set(id, { id, name });
  }
  return [...newest.values()];
}
