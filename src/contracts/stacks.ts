/**
 * Stacks that name the sources, although several modules were joined into one file when the product was built. The maps are read when
 * a stack is shown, and not, as Node does it, with every file that is loaded.
 */
import { existsSync, readFileSync } from "node:fs";
import { SourceMap } from "node:module";
import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";

/** A place in a built file of ours; what is of a package or of a workflow stays as it is. */
const PLACE = /(?:file:\/\/)?(\/[^\s():]+\.js):(\d+):(\d+)/g;

const maps = new Map<string, SourceMap | null>();

/** The same stack with places in the sources, as far as maps of this product tell them. */
export function toSources(stack: string): string {
  return stack.replace(PLACE, (place, path: string, line: string, column: string) => {
    const file = place.startsWith("file:") ? fileURLToPath(`file://${path}`) : path;
    const found = mapOf(file)?.findEntry(Number(line) - 1, Number(column) - 1);
    if (found === undefined || !("originalSource" in found)) return place;
    return `${resolve(dirname(file), found.originalSource)}:${found.originalLine + 1}:${found.originalColumn + 1}`;
  });
}

function mapOf(file: string): SourceMap | null {
  let map = maps.get(file);
  if (map === undefined) {
    map = file.startsWith(DIST) ? read(`${file}.map`) : null;
    maps.set(file, map);
  }
  return map;
}

function read(path: string): SourceMap | null {
  try {
    return existsSync(path) ? new SourceMap(JSON.parse(readFileSync(path, "utf8")) as never) : null;
  } catch {
    // A stack is worth more than its places.
    return null;
  }
}

/** The built tree, if this runs from it. */
const DIST = import.meta.url.endsWith(".ts") ? "\0" : fileURLToPath(new URL("../../", import.meta.url));
