/**
 * What this installation is: the product's name, version and where it is installed. Travels in every `hello`.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export interface Product {
  readonly name: string;
  /** As in package.json, for example `0.1.0`. */
  readonly version: string;
  /** The Node versions it runs on, as npm's `engines` says it; empty when that is not known. */
  readonly node: string;
  /** Absolute real path of the folder that holds package.json. */
  readonly installPath: string;
}

let cached: Product | undefined;

/** Reads the package.json of this installation once; works from the sources and from `dist/`. */
export function product(): Product {
  cached ??= find(dirname(fileURLToPath(import.meta.url)));
  return cached;
}

function find(folder: string): Product {
  for (let at = folder; ; at = dirname(at)) {
    const found = readPackage(at);
    if (found !== undefined) return { ...found, installPath: at };
    if (dirname(at) === at) return { name: "holdpoint", version: "0.0.0", node: "", installPath: folder };
  }
}

function readPackage(folder: string): Omit<Product, "installPath"> | undefined {
  try {
    const { engines, name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as {
      name?: string;
      version?: string;
      engines?: { node?: string };
    };
    if (name === "holdpoint" && version !== undefined) return { name, version, node: engines?.node ?? "" };
  } catch {
    // No readable package.json here; the next folder up may have it.
  }
  return undefined;
}
