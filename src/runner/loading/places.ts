/** Which files are a workflow's own; those of installed packages are not. */
import { sep } from "node:path";
import { isBuiltin } from "../../contracts/builtins.ts";

const MODULES = `${sep}node_modules${sep}`;

/** Folder of the package that the loaded workflow itself belongs to, with a separator at its end; empty outside of packages. */
let packageRoot = "";

/** Says which workflow is loaded next: one that ships in a package has that package's files as its own. */
export function loadsWorkflow(path: string): void {
  // A built-in one stands in our own package, of which nothing else is a workflow's.
  const at = isBuiltin(path) ? -1 : path.lastIndexOf(MODULES);
  const [first = "", second = ""] = at === -1 ? [] : path.slice(at + MODULES.length).split(sep);
  const name = first.startsWith("@") ? `${first}${sep}${second}` : first;
  packageRoot = at === -1 ? "" : `${path.slice(0, at + MODULES.length)}${name}${sep}`;
}

/** True for files that are part of the workflow: neither of a package nor written by jiti for its own use. */
export function isOwn(path: string): boolean {
  if (isBuiltin(path)) return true;
  const rest = packageRoot !== "" && path.startsWith(packageRoot) ? path.slice(packageRoot.length - 1) : path;
  return !(rest.includes(MODULES) || rest.includes(`${sep}jiti-esm${sep}`));
}
