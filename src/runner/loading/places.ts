/** Which files are a workflow's own; those of installed packages are not. */
import { sep } from "node:path";
import { isBuiltin } from "../../contracts/builtins.ts";

/** True for files that are part of the workflow: neither of a package nor written by jiti for its own use. */
export function isOwn(path: string): boolean {
  return isBuiltin(path) || !(path.includes(`${sep}node_modules${sep}`) || path.includes(`${sep}jiti-esm${sep}`));
}
