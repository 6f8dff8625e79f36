/**
 * A disk that loses power: it is fed the traced calls of a process and says what would be on it if the power went now.
 * Only what was synced is certain: the content of a file by a sync of the file, its name by a sync of its folder.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { TraceEvent } from "./trace.ts";

type Change = { readonly offset: number; readonly data: Buffer } | { readonly size: number };

interface Inode {
  /** As of its last sync. */
  content: Buffer;
  /** Done since, in order. */
  pending: Change[];
}

/** What a disk writes whole or not at all. */
const SECTOR = 512;

export class Disk {
  readonly #names = new Map<string, Inode>();
  readonly #durableNames = new Map<string, Inode>();

  apply(event: TraceEvent): void {
    switch (event.kind) {
      case "open": {
        const inode = this.#names.get(event.path);
        if (inode === undefined) this.#names.set(event.path, { content: Buffer.alloc(0), pending: [] });
        else if (event.truncate) inode.pending.push({ size: 0 });
        return;
      }
      case "write":
        this.#inode(event.path).pending.push({ offset: event.offset, data: event.data });
        return;
      case "truncate":
        this.#inode(event.path).pending.push({ size: event.size });
        return;
      case "sync":
        this.#sync(event.path);
        return;
      case "rename": {
        const inode = this.#inode(event.path);
        this.#names.delete(event.path);
        this.#names.set(event.to, inode);
        return;
      }
      case "unlink":
        this.#names.delete(event.path);
        return;
      case "reply":
    }
  }

  /**
   * Files after the power went, by path. `lucky` decides for each sector that was written but not synced whether it made
   * it (true) or not; without it none did.
   */
  afterPowerLoss(lucky: () => boolean = () => false): Map<string, Buffer> {
    const files = new Map<string, Buffer>();
    for (const [path, { content, pending }] of this.#durableNames) {
      files.set(
        path,
        changed(
          content,
          pending.flatMap((change) => survivors(change, lucky)),
        ),
      );
    }
    return files;
  }

  #inode(path: string): Inode {
    const inode = this.#names.get(path);
    if (inode === undefined) throw new Error(`${path} was never opened`);
    return inode;
  }

  #sync(path: string): void {
    const inode = this.#names.get(path);
    if (inode !== undefined && inode.pending.length > 0) {
      inode.content = changed(inode.content, inode.pending);
      inode.pending = [];
    }
    // A folder: the names in it. (It was opened like a file.)
    for (const name of this.#durableNames.keys())
      if (dirname(name) === path && !this.#names.has(name)) this.#durableNames.delete(name);
    for (const [name, entry] of this.#names) if (dirname(name) === path) this.#durableNames.set(name, entry);
  }
}

/** What is left of one unsynced change. */
function survivors(change: Change, lucky: () => boolean): Change[] {
  if ("size" in change) return lucky() ? [change] : [];
  const kept: Change[] = [];
  for (let at = 0; at < change.data.length;) {
    const end = Math.min(change.data.length, at + SECTOR - ((change.offset + at) % SECTOR));
    if (lucky()) kept.push({ offset: change.offset + at, data: change.data.subarray(at, end) });
    at = end;
  }
  return kept;
}

/** The content after some changes, in a buffer of its own. */
function changed(content: Buffer, changes: readonly Change[]): Buffer {
  const ends = changes.map((change) => ("size" in change ? change.size : change.offset + change.data.length));
  const buffer = Buffer.alloc(Math.max(content.length, ...ends));
  content.copy(buffer);
  let length = content.length;
  for (const change of changes) {
    if ("size" in change) {
      buffer.fill(0, Math.min(change.size, length), length);
      length = change.size;
    } else {
      change.data.copy(buffer, change.offset);
      length = Math.max(length, change.offset + change.data.length);
    }
  }
  return buffer.subarray(0, length);
}

/** Writes files of one folder into another. SQLite's shared memory file is not on the disk in any sense and is left out. */
export function layOut(files: ReadonlyMap<string, Buffer>, folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const [path, content] of files) if (!path.endsWith("-shm")) writeFileSync(join(folder, basename(path)), content);
}
