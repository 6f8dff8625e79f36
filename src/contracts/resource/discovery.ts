/**
 * Finding resource manager files: by name in two places, or by path. Used by the resolver, and by the server, which accepts what the
 * resolver found only while this still finds the same.
 */
import { stat } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";
import { HoldpointError } from "../errors.ts";

/** Where one folder has several of one name, the earlier suffix wins. */
const SUFFIXES = [
  ".resource-manager.ts",
  ".resource-manager.mts",
  ".resource-manager.js",
  ".resource-manager.mjs",
] as const;

/**
 * The absolute path of a manager's file; links are not followed. The project's (`.pi/resource-managers`) hides the user's
 * (`~/.pi/agent/resource-managers`).
 *
 * @param given a path instead of the search, relative to the project; null = by name.
 * @throws HoldpointError `managerNotFound` that says where it looked.
 */
export async function findManager(name: string, projectPath: string, given: string | null): Promise<string> {
  if (given !== null) return fileAt(name, projectPath, given);
  const folders = [join(projectPath, ".pi", "resource-managers"), join(homedir(), ".pi", "agent", "resource-managers")];
  for (const folder of folders)
    for (const suffix of SUFFIXES) {
      const path = join(folder, `${name}${suffix}`);
      // oxlint-disable-next-line no-await-in-loop -- the first one wins
      if (await isFile(path)) return path;
    }
  throw new HoldpointError("managerNotFound", `No resource manager "${name}" in ${folders.join(" or ")}.`, {
    details: { manager: name },
  });
}

async function fileAt(name: string, projectPath: string, given: string): Promise<string> {
  const expanded = given.startsWith("~/") ? join(homedir(), given.slice(2)) : given;
  const path = isAbsolute(expanded) ? resolve(expanded) : resolve(projectPath, expanded);
  const suffix = SUFFIXES.find((candidate) => path.endsWith(candidate));
  if (suffix === undefined)
    throw new HoldpointError("managerNotFound", `${path} does not end in ${SUFFIXES.join(", ")}.`);
  if (!(await isFile(path)))
    throw new HoldpointError("managerNotFound", `${path} is no file.`, { details: { manager: name, path } });
  return path;
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}
