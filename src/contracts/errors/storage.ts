/** Storage: HP7xx. */
import type { ErrorEntry } from "./entry.ts";

export const STORAGE_ERRORS = {
  notOurDatabase: {
    code: "HP701",
    when: "The database file belongs to another program, is newer, or was altered.",
    remedy:
      "Start the version of Holdpoint that made it. A damaged file: move it away and put a copy made by `holdpoint state backup` in its place. It was left untouched.",
  },
  diskFull: {
    code: "HP702",
    when: "A write could not be stored because the disk (or the page limit) is full.",
    remedy: "Free space on the disk of HOLDPOINT_HOME, then repeat the command.",
  },
  notWritten: {
    code: "HP703",
    when: "A batch of commands could not be committed; none of it was written.",
    remedy: "Repeat the command; see the server log for the cause.",
  },
  storeMisuse: {
    code: "HP704",
    when: "The store was called inside a command, or a command returned a promise.",
    remedy: "This is a defect; report it.",
  },
  illegalTransition: {
    code: "HP705",
    when: "A record was asked to take a transition its state table does not have.",
    remedy: "This is a defect; report it with the record's id.",
  },
  storageBroken: {
    code: "HP706",
    when: "SQLite reported a damaged file, an I/O error or no memory.",
    remedy: "Check the disk, stop the server, and put back a copy of the home from your backups.",
  },
  backupFailed: {
    code: "HP707",
    when: "A copy of the database could not be made or proved.",
    remedy: "Name a file that does not exist yet, in a folder that this user can write, on a disk with room for it.",
  },
} as const satisfies Record<string, ErrorEntry>;
