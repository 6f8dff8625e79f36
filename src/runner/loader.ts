/**
 * Loads a workflow file as it is, without a build: TypeScript and modules through jiti, with the product's own modules
 * handed in, so that a file needs no package.json and gets the engine that runs it.
 */
import { createRequire } from "node:module";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { createJiti, JitiOptions } from "jiti";

const require = createRequire(import.meta.url);

/** jiti's core, below the wrapper that fixes how it imports natively; the version is pinned in package.json. */
type CreateCore = (id: string, options: JitiOptions, context: CoreContext) => ReturnType<typeof createJiti>;
interface CoreContext {
  readonly onError: (error: Error) => never;
  readonly nativeImport: (id: string | URL) => Promise<unknown>;
  readonly createRequire: typeof createRequire;
}
type Transform = NonNullable<JitiOptions["transform"]>;

export interface LoadedModule {
  readonly exports: unknown;
  /** Absolute paths of the local files that were evaluated, the given one first. Packages are not local. */
  readonly files: readonly string[];
}

/**
 * Evaluates a file and what it imports. Rejects with whatever the evaluation threw.
 *
 * @param path absolute.
 * @param modules import name → namespace, for what the product provides.
 * @param cacheDir folder for transpiled code, or null for none.
 */
export async function loadModule(
  path: string,
  modules: Readonly<Record<string, unknown>>,
  cacheDir: string | null,
): Promise<LoadedModule> {
  const dist = join(dirname(require.resolve("jiti")), "..", "dist");
  const createCore = require(join(dist, "jiti.cjs")) as CreateCore;
  const before = new Set(Object.keys(require.cache));
  const options: JitiOptions = {
    virtualModules: { ...modules },
    fsCache: cacheDir ?? false,
    // Keeps stack traces readable: otherwise a module with top-level await is one data: URL with all of its source.
    esmEvalTempFile: true,
    sourceMaps: true,
    moduleCache: true,
    tryNative: false,
    // The transpiler is large; with a filled cache it is not needed.
    transform: (given) => (require(join(dist, "babel.cjs")) as Transform)(given),
  };
  const jiti = createCore(path, options, { onError: rethrow, nativeImport, createRequire });
  const touched = (): string[] => Object.keys(require.cache).filter((file) => !before.has(file) && isLocal(file));
  try {
    const exports: unknown = await jiti.import(path);
    return { exports, files: [path, ...touched().filter((file) => file !== path)] };
  } finally {
    // Another load in this process evaluates the files anew; this one's own later imports find them in its own cache.
    for (const file of touched()) delete require.cache[file];
  }
}

/**
 * Local modules must not be imported natively: they would not find the product's modules, and nobody would know that they
 * are part of the workflow. Refused here, jiti transpiles them like TypeScript.
 */
async function nativeImport(id: string | URL): Promise<unknown> {
  const url = typeof id === "string" ? id : id.href;
  const file = url.startsWith("file:") ? fileURLToPath(url) : url;
  if (file.startsWith(sep) && isLocal(file)) throw new Error(`${file} is for the loader.`);
  return import(url);
}

/** Neither of an installed package nor a file that jiti wrote for its own use. */
function isLocal(path: string): boolean {
  return !path.includes(`${sep}node_modules${sep}`) && !path.includes(`${sep}jiti-esm${sep}`);
}

function rethrow(error: Error): never {
  throw error;
}
