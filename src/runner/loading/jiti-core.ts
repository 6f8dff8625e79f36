/**
 * jiti with other eyes: its core is compiled with a file system in which a workflow's own files are those of a
 * SourceView. So approved bytes are executed at their original paths, where packages and files beside them are found.
 */
import { readFileSync } from "node:fs";
import * as fs from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { compileFunction } from "node:vm";
import type { createJiti, JitiOptions } from "jiti";
import { isOwn } from "./places.ts";
import type { SourceView } from "./source-view.ts";

const require = createRequire(import.meta.url);
const DIST = join(dirname(require.resolve("jiti")), "..", "dist");

/** jiti's core, below the wrapper that fixes how it imports natively; the version is pinned in package.json. */
type CreateCore = (id: string, options: JitiOptions, context: CoreContext) => ReturnType<typeof createJiti>;
interface CoreContext {
  readonly onError: (error: Error) => never;
  readonly nativeImport: (id: string | URL) => Promise<unknown>;
  readonly createRequire: (filename: string) => unknown;
}
export type Transform = NonNullable<JitiOptions["transform"]>;

/** The transpiler is large; with a filled cache it is not needed. */
export const transpile: Transform = (given) => (require(join(DIST, "babel.cjs")) as Transform)(given);

let created: { readonly core: CreateCore; readonly see: (view: SourceView) => void } | undefined;

/** The core, seeing a view from now on. One load at a time. */
export function coreOf(view: SourceView): CreateCore {
  created ??= create();
  created.see(view);
  return created.core;
}

function create(): NonNullable<typeof created> {
  let current: SourceView | undefined;
  const seen = fileSystem(() => current);
  const file = join(DIST, "jiti.cjs");
  const wrapper = compileFunction(readFileSync(file, "utf8"), ["exports", "require", "module"], { filename: file });
  const module: { exports: unknown } = { exports: {} };
  const requireFor = (id: string): unknown => (id === "node:fs" ? seen : require(id));
  wrapper.call(module.exports, module.exports, requireFor, module);
  return { core: module.exports as CreateCore, see: (view) => (current = view) };
}

const ENOENT = (path: string): Error => Object.assign(new Error(`ENOENT: no such file, ${path}`), { code: "ENOENT" });
const A_FILE = { isFile: () => true, isDirectory: () => false };

/** The functions with which jiti resolves and reads; the rest is the real one. */
function fileSystem(view: () => SourceView | undefined): object {
  const hides = (path: unknown): boolean => typeof path === "string" && view()?.hides(path) === true;
  const approved = (path: unknown): boolean => typeof path === "string" && view()?.isApproved(path) === true;
  return {
    ...fs,
    readFileSync(path: string, ...rest: [BufferEncoding]): unknown {
      const own = typeof path === "string" && isOwn(path) && basename(path) !== "package.json";
      return own && view() !== undefined ? view()?.read(path).toString("utf8") : fs.readFileSync(path, ...rest);
    },
    statSync(path: string, options?: { throwIfNoEntry?: boolean }): unknown {
      if (approved(path)) return A_FILE;
      if (!hides(path)) return fs.statSync(path, options);
      if (options?.throwIfNoEntry === false) return undefined;
      throw ENOENT(path);
    },
    realpathSync: (path: string): string => (approved(path) ? path : fs.realpathSync(path)),
    existsSync: (path: string): boolean => approved(path) || (!hides(path) && fs.existsSync(path)),
  };
}

/**
 * What jiti uses as `createRequire`: own files are never required natively, JSON apart, and own modules have a cache for
 * this load only, so that another load in this process evaluates them anew.
 */
export function requireOf(view: SourceView): (filename: string) => unknown {
  const cache = Object.create(null) as object;
  return (filename) => {
    const native = createRequire(filename);
    const load = (id: string): unknown => {
      if (!isAbsolute(id) || !isOwn(id)) return native(id);
      if (id.endsWith(".json")) return view.json(id);
      throw new Error(`${id} is for the loader.`);
    };
    const find = (id: string, options?: { paths?: string[] }): string => {
      if (!id.startsWith(".") && !isAbsolute(id)) return native.resolve(id, options);
      const path = resolve(options?.paths?.[0] ?? dirname(filename), id);
      if (view.isApproved(path)) return path;
      const found = native.resolve(id, options);
      if (view.hides(found)) throw ENOENT(found);
      return found;
    };
    const { extensions, main } = native;
    return Object.assign(load, {
      cache,
      extensions,
      main,
      resolve: Object.assign(find, { paths: native.resolve.paths }),
    });
  };
}
