/**
 * Names of source files. A file of a built-in workflow is known by its place among them, wherever the product is
 * installed and whichever version runs; every other file by its path.
 */
import { join, sep } from "node:path";
import { fileURLToPath } from "node:url";

const SCHEME = "builtin:";

/** Where this installation has its built-in workflows. */
export const BUILTINS_FOLDER = fileURLToPath(new URL("../builtins/", import.meta.url));

export function isBuiltin(path: string): boolean {
  return path.startsWith(BUILTINS_FOLDER);
}

/** The name under which a file is approved: `builtin:<id>…` or its path. */
export function sourceName(path: string): string {
  return isBuiltin(path) ? SCHEME + path.slice(BUILTINS_FOLDER.length).split(sep).join("/") : path;
}

/** Where the file of this name stands in this installation; it need not exist. */
export function sourcePlace(name: string): string {
  return name.startsWith(SCHEME) ? join(BUILTINS_FOLDER, name.slice(SCHEME.length)) : name;
}
