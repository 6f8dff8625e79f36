/** Which Pi this runs in: read from its package, because its API does not tell. */
import { readFileSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** The oldest that is supported: before it the first of two dialogs hung for ever. */
export const OLDEST_PI = "1.4.0";

/** The version, or `unknown`. */
export function piVersion(entry: string | undefined = process.argv[1]): string {
  try {
    for (let at = dirname(realpathSync(entry ?? "")); at !== dirname(at); at = dirname(at)) {
      const found = versionIn(at);
      if (found !== undefined) return found;
    }
  } catch {
    // A Pi that is one file has no package around it.
  }
  return "unknown";
}

function versionIn(folder: string): string | undefined {
  try {
    const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Record<string, unknown>;
    return typeof name === "string" && name.endsWith("pi-coding-agent") && typeof version === "string"
      ? version
      : undefined;
  } catch {
    return undefined;
  }
}

/** Whether a version is older than the oldest supported one; an unknown one is not. */
export function tooOld(version: string): boolean {
  const [given, oldest] = [version, OLDEST_PI].map((text) => text.split(/[.+-]/).map(Number));
  for (const [index, wanted] of (oldest ?? []).entries()) {
    const number = given?.[index];
    if (number === undefined || Number.isNaN(number)) return false;
    if (number !== wanted) return number < wanted;
  }
  return false;
}
