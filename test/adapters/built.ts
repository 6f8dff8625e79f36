/** Builds the adapter children of this tree, with only what they import, for tests that start them as processes. */
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "../..");

export interface Built {
  /** Path of the built form of a source file, given relative to the repository. */
  path(source: string): string;
  remove(): void;
}

export function buildChildren(sources: readonly string[]): Built {
  // Inside node_modules, so that packages are found and nothing else looks at it.
  const folder = join(root, "node_modules/.cache", `adapters-dist-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), `{"type":"module"}\n`);
  const compilerOptions = {
    rootDir: root,
    outDir: folder,
    declaration: false,
    sourceMap: true,
    noUnusedLocals: false,
  };
  const files = sources.map((source) => join(root, source));
  const config = { extends: join(root, "tsconfig.json"), compilerOptions, files, include: [] };
  const project = join(folder, "tsconfig.json");
  writeFileSync(project, JSON.stringify(config));
  const path = (source: string): string => join(folder, source.replace(/\.ts$/, ".js"));
  try {
    execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project], { stdio: "pipe" });
  } catch (error) {
    // Types are the business of `npm run check`; here only the output counts.
    const missing = sources.filter((source) => !existsSync(path(source)));
    if (missing.length > 0) throw new Error(`not built: ${missing.join(", ")}`, { cause: error });
  }
  return { path, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
