/**
 * Workflows by name for those that include them. `holdpoint/workflows/<name>` is what the name means on the command line: a file of the
 * project or the user takes the place of a built-in one. `holdpoint/builtins/<name>` is the built-in one itself. A run that goes on gets
 * those with which it started.
 */
import { realpath } from "node:fs/promises";
import { basename, dirname } from "node:path";
import { builtinIdOf, sourceName, sourcePlace } from "../../contracts/builtins.ts";
import { listWorkflows, ownFolders, workflowNameOf } from "../../contracts/discovery.ts";

type Approved = ReadonlyMap<string, Buffer>;

/** The last answer for approved files. A warm runner continues runs of the same ones, and looking costs more than the rest of a load. */
let last: { readonly key: string; readonly names: Record<string, string> } | undefined;

/**
 * Import name → file. A folder of people's own that cannot be read leaves only the built-in ones themselves: an import by a name that may
 * be taken there fails then, instead of meaning another file.
 *
 * @param approved what a run that goes on may load; null at its start, when it is what the disk has. The same files in the same project
 *   have the same names in this process from the first time on.
 */
export async function namedWorkflows(projectPath: string, approved: Approved | null): Promise<Record<string, string>> {
  if (approved === null) return find(projectPath, null);
  const key = JSON.stringify([projectPath, ...approved.keys()]);
  if (last?.key !== key) last = { key, names: await find(projectPath, approved) };
  return last.names;
}

async function find(projectPath: string, approved: Approved | null): Promise<Record<string, string>> {
  const found = new Map<string, string>();
  for (const [name, path] of approved === null ? [] : amongApproved(projectPath, [...approved.keys()]))
    found.set(name, path);
  for (const [name, path] of await onDisk(projectPath)) {
    if (approved === null || (await isApproved(path, approved))) found.set(name, path);
  }
  return Object.fromEntries(found);
}

async function onDisk(projectPath: string): Promise<[string, string][]> {
  // No folders of people's own: the built-in ones as they are.
  const builtins = await listWorkflows({ projectPath: "/dev/null", userHome: "/dev/null" });
  const names = await listWorkflows({ projectPath }).catch(() => []);
  return [
    ...builtins.map(({ name, path }): [string, string] => [builtinImport(name), sourcePlace(path)]),
    ...names.map(({ name, path }): [string, string] => [nameImport(name), sourcePlace(path)]),
  ];
}

/** Also for files that are gone from the disk. What counts most comes last. */
function amongApproved(projectPath: string, approved: readonly string[]): [string, string][] {
  const builtins = approved
    .toSorted((a, b) => a.localeCompare(b, "en", { numeric: true }))
    .flatMap((path): [string, string][] => {
      const id = builtinIdOf(sourceName(path));
      return id === undefined
        ? []
        : [
            [builtinImport(id), path],
            [nameImport(id), path],
          ];
    });
  const own = ownFolders({ projectPath })
    .toReversed()
    .flatMap((folder) => approved.filter((path) => dirname(path) === folder))
    .flatMap((path): [string, string][] => {
      const name = workflowNameOf(basename(path));
      return name === undefined ? [] : [[nameImport(name), path]];
    });
  return [...builtins, ...own];
}

/** A link counts as the file that it leads to. */
async function isApproved(path: string, approved: Approved): Promise<boolean> {
  return approved.has(path) || approved.has(await realpath(path).catch(() => path));
}

const nameImport = (name: string): string => `holdpoint/workflows/${name}`;
const builtinImport = (id: string): string => `holdpoint/builtins/${id}`;
