/**
 * Workflows by name for those that include them: what `holdpoint/workflows/<name>` means. A file of the project or the user takes the
 * place of a built-in one of the same name, as on the command line; a run that goes on gets those with which it started.
 */
import { realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { builtinIdOf, sourceName, sourcePlace } from "../../contracts/builtins.ts";
import { listWorkflows, ownFolders, workflowNameOf } from "../../contracts/discovery.ts";

/** The beginning of such an import. */
const NAMED = "holdpoint/workflows/";

/**
 * Import name → file. Nothing when a folder cannot be read: the import of a name fails then, instead of meaning another file.
 *
 * @param approved what a run that goes on may load; null at its start, when it is what the disk has.
 */
export async function namedWorkflows(
  projectPath: string,
  approved: ReadonlyMap<string, Buffer> | null,
): Promise<Record<string, string>> {
  const onDisk = await listWorkflows({ projectPath }).catch(() => []);
  const found = new Map(approved === null ? [] : amongApproved(projectPath, [...approved.keys()]));
  for (const { name, path } of onDisk) {
    const place = sourcePlace(path);
    if (approved === null || approved.has(place) || approved.has(await realpath(place).catch(() => place)))
      found.set(name, place);
  }
  return Object.fromEntries([...found].map(([name, place]) => [NAMED + name, place]));
}

/** Name → approved file that stands where names are looked for, also one that is gone from the disk. */
function amongApproved(projectPath: string, approved: readonly string[]): [string, string][] {
  const builtins = approved
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .map((path) => [builtinIdOf(sourceName(path)), path] as const);
  // The project's come last, so that they count most.
  const own = ownFolders({ projectPath })
    .toReversed()
    .flatMap((folder) => approved.filter((path) => dirname(path) === folder))
    .map((path) => [workflowNameOf(basename(path)), path] as const);
  return [...builtins, ...own].filter((entry): entry is [string, string] => entry[0] !== undefined);
}
