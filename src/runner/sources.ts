/**
 * What was approved when a run started, as bytes: from memory, from the folder in which the server lays it out, or from
 * the original files while they are still the same. Every way is verified by its hash.
 */
import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import { join } from "node:path";
import { builtinIdOf, sourcePlace } from "../contracts/builtins.ts";
import type { SourceFile } from "../contracts/definition.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { WORKFLOW } from "../contracts/limits.ts";

/** Contents by hash: what this process has verified before. Of one workflow at a time. */
let verified = new Map<string, Buffer>();

/**
 * The approved bytes by path in this installation.
 *
 * @param folder holds contents under their SHA-256; null for none.
 * @throws HoldpointError `workflowSourceChanged` that names the first file of which nothing is left.
 */
export async function approvedFiles(
  approved: readonly SourceFile[],
  folder: string | null,
): Promise<ReadonlyMap<string, Buffer>> {
  const next = new Map<string, Buffer>();
  const files = new Map<string, Buffer>();
  for (const { path, sha256 } of approved) {
    const content = verified.get(sha256) ?? (await laidOut(folder, sha256)) ?? (await original(path, sha256));
    next.set(sha256, content);
    files.set(sourcePlace(path), content);
  }
  verified = next;
  return files;
}

async function laidOut(folder: string | null, sha256: string): Promise<Buffer | undefined> {
  if (folder === null) return undefined;
  const content = await readFile(join(folder, sha256)).catch(() => undefined);
  return content !== undefined && digestOf(content) === sha256 ? content : undefined;
}

async function original(path: string, sha256: string): Promise<Buffer> {
  let content: Buffer;
  try {
    content = await readFile(sourcePlace(path));
  } catch (error) {
    throw sourceChanged(path, `cannot be read any more (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
  }
  if (digestOf(content) !== sha256) throw sourceChanged(path, "is not what it was when the run started");
  return content;
}

/** The first approved file that is another one on the disk by now, as an error; undefined when all are the same. */
export async function changedOnDisk(approved: readonly SourceFile[]): Promise<HoldpointError | undefined> {
  for (const { path, sha256 } of approved) {
    try {
      await original(path, sha256);
    } catch (error) {
      return error as HoldpointError;
    }
  }
  return undefined;
}

/** The file to load: an approved one if there are any, without links. Throws when it cannot be told. */
export async function rootOf(workflowPath: string, approved: ReadonlyMap<string, Buffer> | null): Promise<string> {
  const given = sourcePlace(workflowPath);
  if (approved?.has(given) === true) return given;
  let real: string;
  try {
    real = await realpath(given);
  } catch (error) {
    if (approved !== null) throw sourceChanged(workflowPath, "is gone, and another file was approved in its place");
    const builtin = builtinIdOf(workflowPath);
    if (builtin !== undefined) {
      throw new HoldpointError("workflowNotFound", `${workflowPath} is not in this version of the product.`, {
        remedy: `Start the revision that this version has: \`holdpoint run ${builtin}\`.`,
        details: { path: workflowPath },
      });
    }
    const why = error instanceof Error ? error.message : String(error);
    throw new HoldpointError("workflowNotFound", `${workflowPath} cannot be opened: ${why}.`);
  }
  if (approved?.has(real) === false) throw sourceChanged(real, "was not approved when the run started");
  return real;
}

/** Throws `workflowLoad` when a workflow has more files than are stored. */
export function checkCount(files: readonly SourceFile[]): void {
  if (files.length <= WORKFLOW.sourceFiles) return;
  throw new HoldpointError(
    "workflowLoad",
    `The workflow loads ${files.length} files of its own; the limit is ${WORKFLOW.sourceFiles}.`,
    {
      remedy: "Bundle them, or put them into a package.",
      details: { limit: WORKFLOW.sourceFiles, seen: files.length },
    },
  );
}

export function sourceChanged(path: string, how: string): HoldpointError {
  return new HoldpointError("workflowSourceChanged", `${path} ${how}.`, { details: { path } });
}

function digestOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
