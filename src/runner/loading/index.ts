/**
 * Loads a workflow file as it is, without a build: TypeScript and modules through jiti, with the product's own modules
 * handed in, so that a file needs no package.json and gets the engine that runs it.
 *
 * Owns which bytes are evaluated and what is known of them. It does not decide whether they may run.
 */
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { isAbsolute } from "node:path";
import { BUILTINS_INDEX } from "../../contracts/builtins.ts";
import type { SourceFile } from "../../contracts/definition.ts";
import { coreOf, requireOf } from "./jiti-core.ts";
import { forgetOwn, seeNatively } from "./native-modules.ts";
import { isOwn, loadsWorkflow } from "./places.ts";
import type { SourceView } from "./source-view.ts";
import { cachedTransform } from "./transform-cache.ts";

const require = createRequire(import.meta.url);

/** Names of the built-in workflows: their files are loaded as own files, so that they are part of the identity. */
const BUILTINS_NAMES = ["holdpoint/builtins", "@osolmaz/pi-workflows/builtins"] as const;

export { namedWorkflows } from "./named.ts";
export { SourceView } from "./source-view.ts";

export interface LoadedModule {
  readonly exports: unknown;
  /** The workflow's own files that were evaluated, with the hashes of the evaluated bytes, sorted by name. */
  readonly files: SourceFile[];
}

/**
 * Evaluates a file and what it imports, anew in each call. Rejects with whatever the evaluation threw.
 *
 * @param path absolute, without links.
 * @param modules import name → namespace, for what the product provides; zod is provided always.
 * @param named import name → file, for workflows that are included by their name.
 * @param cacheDir folder for transpiled code, or null for none.
 */
export async function loadModule(
  path: string,
  modules: Readonly<Record<string, unknown>>,
  named: Readonly<Record<string, string>>,
  cacheDir: string | null,
  view: SourceView,
): Promise<LoadedModule> {
  loadsWorkflow(path);
  seeNatively(view);
  const jiti = coreOf(view)(
    path,
    {
      virtualModules: withZod(modules),
      alias: { ...Object.fromEntries(BUILTINS_NAMES.map((name) => [name, BUILTINS_INDEX])), ...named },
      fsCache: false,
      // Keeps stack traces readable: otherwise a module with top-level await is one data: URL with all of its source.
      esmEvalTempFile: true,
      sourceMaps: true,
      moduleCache: true,
      tryNative: false,
      transform: cachedTransform(cacheDir),
    },
    { onError: rethrow, nativeImport, createRequire: requireOf(view) },
  );
  try {
    const exports: unknown = await jiti.import(path);
    return { exports, files: view.files };
  } finally {
    view.loaded();
    forgetOwn();
  }
}

/** With zod as installed with the product, which is loaded when a file asks for it: the product itself needs little of it. */
function withZod(modules: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.defineProperty({ ...modules }, "zod", { enumerable: true, get: () => require("zod") as unknown });
}

/**
 * Own modules must not be imported natively: they would not find the product's modules, and nobody would know that they
 * are part of the workflow. Refused here, jiti transpiles them like TypeScript.
 */
async function nativeImport(id: string | URL): Promise<unknown> {
  const url = typeof id === "string" ? id : id.href;
  const file = url.startsWith("file:") ? fileURLToPath(url) : url;
  if (isAbsolute(file) && isOwn(file)) throw new Error(`${file} is for the loader.`);
  return import(url);
}

function rethrow(error: Error): never {
  throw error;
}
