/**
 * The files a workflow is made of: which ones a load touched, their digests, and whether they are still those that were
 * approved when the run started.
 */
import { createHash } from "node:crypto";
import { readFile, realpath } from "node:fs/promises";
import type { SourceFile } from "../contracts/definition.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { WORKFLOW } from "../contracts/limits.ts";

/**
 * Real paths and digests of files, sorted by path.
 *
 * @throws HoldpointError `workflowLoad` when there are too many or one is too large.
 */
export async function hashSources(paths: Iterable<string>): Promise<SourceFile[]> {
  const real = new Set<string>();
  for (const path of paths) real.add(await realpath(path));
  if (real.size > WORKFLOW.sourceFiles) {
    throw new HoldpointError(
      "workflowLoad",
      `The workflow loads ${real.size} files of its own; the limit is ${WORKFLOW.sourceFiles}.`,
      { remedy: "Bundle them, or put them into a package.", details: { limit: WORKFLOW.sourceFiles, seen: real.size } },
    );
  }
  return Promise.all([...real].toSorted().map(hashSource));
}

async function hashSource(path: string): Promise<SourceFile> {
  const content = await readFile(path);
  if (content.length > WORKFLOW.sourceFileBytes) {
    throw new HoldpointError(
      "workflowLoad",
      `${path} has ${content.length} bytes; the limit for a source file is ${WORKFLOW.sourceFileBytes}.`,
      { details: { limit: WORKFLOW.sourceFileBytes, seen: content.length } },
    );
  }
  return { path, sha256: digestOf(content) };
}

/**
 * Compares the files as they are now with the approved ones, without loading anything.
 *
 * @returns the error to park with, naming the first file that differs; undefined when all are the same.
 */
export async function changedSince(approved: readonly SourceFile[]): Promise<HoldpointError | undefined> {
  for (const { path, sha256 } of approved) {
    let content: Buffer;
    try {
      content = await readFile(path);
    } catch (error) {
      return sourceChanged(path, `cannot be read any more (${(error as NodeJS.ErrnoException).code ?? "unknown"})`);
    }
    if (digestOf(content) !== sha256) return sourceChanged(path, "is not what it was when the run started");
  }
  return undefined;
}

/** Compares what a load touched with what was approved. */
export function differsFrom(
  approved: readonly SourceFile[],
  loaded: readonly SourceFile[],
): HoldpointError | undefined {
  const wanted = new Map(approved.map(({ path, sha256 }) => [path, sha256]));
  for (const { path, sha256 } of loaded) {
    const digest = wanted.get(path);
    if (digest === undefined) return sourceChanged(path, "is loaded now, but was not when the run started");
    if (digest !== sha256) return sourceChanged(path, "changed while it was being loaded");
  }
  return undefined;
}

export function sourceChanged(path: string, how: string): HoldpointError {
  return new HoldpointError("workflowSourceChanged", `${path} ${how}.`, { details: { path } });
}

function digestOf(content: Buffer): string {
  return createHash("sha256").update(content).digest("hex");
}
