/** Source files on the disk as the server sees them: read and hashed by itself, never taken from a runner's word. */
import { readFile, realpath } from "node:fs/promises";
import { sourceName, sourcePlace } from "../../contracts/builtins.ts";
import type { SourceFile } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { sha256Hex } from "../../contracts/ids.ts";

/** The file as it is now; a runner that loaded other bytes is refused. Throws `workflowSourceChanged`. */
export async function readSource(source: SourceFile): Promise<SourceFile & { content: Buffer }> {
  const content = await readFile(sourcePlace(source.path));
  if (sha256Hex(content) !== source.sha256) {
    throw new HoldpointError("workflowSourceChanged", `${source.path} changed while it was being loaded.`);
  }
  return { ...source, content };
}

/** The workflow's file among its sources, where the run was started through a link. */
export async function fileOf(workflowPath: string, sources: readonly SourceFile[]): Promise<string> {
  const known = (path: string): boolean => sources.some((source) => source.path === path);
  if (known(workflowPath)) return workflowPath;
  const real = await realpath(sourcePlace(workflowPath)).catch(() => workflowPath);
  return known(sourceName(real)) ? sourceName(real) : workflowPath;
}

/** Whether the files on the disk are these, now. */
export async function sameOnDisk(sources: readonly SourceFile[]): Promise<boolean> {
  try {
    await Promise.all(sources.map((source) => readSource(source)));
    return true;
  } catch {
    return false;
  }
}
