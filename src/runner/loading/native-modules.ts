/**
 * Own files that a workflow loads past the loader, with `createRequire` of node:module: Node reads them, but they are
 * evaluated from the view as well, and are part of the identity.
 */
import Module, { createRequire } from "node:module";
import { isOwn } from "./places.ts";
import type { SourceView } from "./source-view.ts";

/** What node:module has and its types do not tell. */
interface Internals {
  readonly prototype: { _compile: (this: unknown, content: string, filename: string, ...rest: unknown[]) => unknown };
  readonly _extensions: Record<string, (module: { exports: unknown }, filename: string) => void>;
}

const { cache } = createRequire(import.meta.url);
let current: SourceView | undefined;

/** Makes Node's own loading of modules see a view from now on; the first call patches it. */
export function seeNatively(view: SourceView): void {
  if (current === undefined) patch(Module as unknown as Internals);
  current = view;
}

/** Forgets own files that Node has loaded, so that the next load evaluates them anew. */
export function forgetOwn(): void {
  for (const path of Object.keys(cache)) if (isUsers(path)) delete cache[path];
}

function patch(internals: Internals): void {
  const { prototype } = internals;
  const compile = prototype._compile;
  prototype._compile = function (content, filename, ...rest) {
    const text = isUsers(filename) ? (current?.read(filename).toString("utf8") ?? content) : content;
    return compile.call(this, text, filename, ...rest);
  };
  const json = internals._extensions[".json"];
  internals._extensions[".json"] = (module, filename) => {
    if (isUsers(filename) && current !== undefined) module.exports = current.json(filename);
    else json?.(module, filename);
  };
}

/** Own, and not of this product: in a checkout its files are no package's. */
function isUsers(path: string): boolean {
  return isOwn(path) && !before.has(path);
}

const before = new Set(Object.keys(cache));
