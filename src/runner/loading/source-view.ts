/**
 * The workflow's own files as its loading sees them, and a record of the bytes it got. At the first start that is the
 * disk; later it is what was approved then, whatever the disk says now. What is hashed is what is executed.
 */
import { createHash } from "node:crypto";
import { readFileSync, realpathSync, statSync } from "node:fs";
import { basename } from "node:path";
import { sourceName } from "../../contracts/builtins.ts";
import type { SourceFile } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { WORKFLOW } from "../../contracts/limits.ts";
import { isOwn } from "./places.ts";

export class SourceView {
  /** Content by path; null: the disk. */
  readonly #approved: ReadonlyMap<string, Buffer> | null;
  readonly #hashes = new Map<string, string>();
  readonly #json = new Map<string, unknown>();
  readonly #hidden = new Set<string>();
  #loading = true;

  constructor(approved: ReadonlyMap<string, Buffer> | null) {
    this.#approved = approved;
  }

  /** What is read from now on is no part of the identity: imports that nodes make while they run. */
  loaded(): void {
    this.#loading = false;
  }

  /** Every file that was read while loading, sorted by name. */
  get files(): SourceFile[] {
    const files = [...this.#hashes].map(([path, sha256]) => ({ path: sourceName(path), sha256 }));
    return files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** A file that is there now and was kept out because it was not approved; the last one that was asked for. */
  get hidden(): string | undefined {
    return [...this.#hidden].at(-1);
  }

  isApproved(path: string): boolean {
    return this.#approved?.has(path) === true;
  }

  /**
   * Whether this file must look as if it did not exist, so that files which came later change nothing. Folders and
   * package.json stay visible: they say how packages are found.
   */
  hides(path: string): boolean {
    if (this.#approved === null || !this.#loading || !isOwn(path)) return false;
    if (this.#approved.has(path) || basename(path) === "package.json") return false;
    try {
      if (this.#approved.has(realpathSync(path)) || !statSync(path).isFile()) return false;
    } catch {
      return false;
    }
    this.#hidden.add(path);
    return true;
  }

  /** The bytes of one of the workflow's own files. Throws what reading throws, and `workflowLoad` for one that is too large. */
  read(path: string): Buffer {
    const content = this.#approved?.get(path) ?? this.#fromDisk(path);
    if (this.#loading && !this.#hashes.has(path)) this.#record(path, content);
    return content;
  }

  /** The value of a JSON file, one object however often it is imported. */
  json(path: string): unknown {
    if (!this.#json.has(path)) {
      const text = this.read(path)
        .toString("utf8")
        .replace(/^\uFEFF/, "");
      try {
        this.#json.set(path, JSON.parse(text));
      } catch (error) {
        throw new SyntaxError(`${path}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
      }
    }
    return this.#json.get(path);
  }

  #fromDisk(path: string): Buffer {
    if (this.hides(path)) throw Object.assign(new Error(`ENOENT: ${path} was not approved`), { code: "ENOENT" });
    return readFileSync(path);
  }

  #record(path: string, content: Buffer): void {
    if (content.length > WORKFLOW.sourceFileBytes) {
      throw new HoldpointError(
        "workflowLoad",
        `${path} has ${content.length} bytes; the limit for a source file is ${WORKFLOW.sourceFileBytes}.`,
        { details: { limit: WORKFLOW.sourceFileBytes, seen: content.length } },
      );
    }
    this.#hashes.set(path, createHash("sha256").update(content).digest("hex"));
  }
}
