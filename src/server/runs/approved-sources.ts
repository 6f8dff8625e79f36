/**
 * Lays approved source files out for runners: content from the database under its SHA-256, in a folder of the home that
 * only its owner may read. Made anew by each server, so that it never grows beyond what is waiting and was run.
 */
import { randomUUID } from "node:crypto";
import { chmodSync, mkdirSync, rmSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { SourceFile } from "../../contracts/definition.ts";

export class ApprovedSources {
  readonly folder: string;
  readonly #content: (sha256: string) => Buffer;
  readonly #done = new Map<string, Promise<void>>();

  /** `content` gives the stored bytes; the folder is emptied. */
  constructor(folder: string, content: (sha256: string) => Buffer) {
    this.folder = folder;
    this.#content = content;
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    chmodSync(folder, 0o700);
  }

  /** Resolves when all of them are there. Rejects with the storage's error; a runner may still find the original files. */
  async layOut(sources: readonly SourceFile[]): Promise<void> {
    await Promise.all(sources.map(({ sha256 }) => this.#layOut(sha256)));
  }

  #layOut(sha256: string): Promise<void> {
    let done = this.#done.get(sha256);
    if (done === undefined) {
      done = this.#write(sha256);
      this.#done.set(sha256, done);
      // Tried again by the next launch.
      done.catch(() => this.#done.delete(sha256));
    }
    return done;
  }

  /** Complete or not at all: a file is renamed into its place. */
  async #write(sha256: string): Promise<void> {
    const temporary = join(this.folder, `${sha256}.${randomUUID()}`);
    await writeFile(temporary, this.#content(sha256), { mode: 0o600 });
    await rename(temporary, join(this.folder, sha256));
  }
}
