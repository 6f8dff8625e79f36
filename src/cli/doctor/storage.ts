/** The disk below the home, and the database on it. Only read; the database is read by a child, because it takes a while. */
import { execFile } from "node:child_process";
import { existsSync, statfsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { z } from "zod";

import { fromErrorRecord } from "../../contracts/errors.ts";
import { SETUP } from "../../contracts/limits.ts";
import { errorRecordSchema } from "../../contracts/protocol/shared.ts";
import { note, ok, refused, wrong, type Check } from "./check.ts";

const answerSchema = z.union([
  z.strictObject({ problems: z.array(z.string()).nullable() }),
  z.strictObject({ error: errorRecordSchema }),
]);

/** Free space where the home is, or will be. */
export function checkDisk(home: string): Check {
  let folder = home;
  while (!existsSync(folder)) folder = dirname(folder);
  const { bavail, bsize } = statfsSync(folder);
  return judgeDisk(bavail * bsize, folder);
}

/** `free` in bytes. */
export function judgeDisk(free: number, folder: string): Check {
  const found = `${size(free)} free for ${folder}`;
  const remedy = "Free space there; a full disk refuses every answer and every step.";
  if (free < SETUP.diskWrongBytes) return wrong("Disk", found, remedy);
  return free < SETUP.diskNoteBytes ? note("Disk", found, remedy) : ok("Disk", found);
}

/** SQLite's quick check, beside a running server as well. */
export async function checkDatabase(home: string): Promise<Check> {
  const path = join(home, "state.sqlite");
  if (!existsSync(path)) return note("Database", "none yet; it is made at the first start");
  const dist = import.meta.url.endsWith(".ts") ? "../../../dist/src/" : "../../";
  const entry = fileURLToPath(new URL(`${dist}server/database-check.js`, import.meta.url));
  let text: string;
  try {
    const options = { timeout: SETUP.databaseCheckMs, maxBuffer: 1_048_576 };
    text = (await promisify(execFile)(process.execPath, [entry, path], options)).stdout;
  } catch (error) {
    const why = error instanceof Error ? error.message.split("\n")[0] : String(error);
    return wrong("Database", `${path} could not be checked: ${why}`, "Check the disk, and run it again.");
  }
  const answer = answerSchema.parse(JSON.parse(text));
  if ("error" in answer) return refused("Database", fromErrorRecord(answer.error));
  const { problems } = answer;
  if (problems === null) return note("Database", "none yet; it is made at the first start");
  if (problems.length === 0) return ok("Database", `${path} is sound`);
  return wrong(
    "Database",
    `${path} is damaged: ${problems.join("; ")}`,
    "Stop the server, check the disk, and put back a copy of the home from your backups.",
  );
}

function size(bytes: number): string {
  const giga = bytes / 1_073_741_824;
  return giga >= 1 ? `${giga.toFixed(1)} GiB` : `${(bytes / 1_048_576).toFixed(0)} MiB`;
}
