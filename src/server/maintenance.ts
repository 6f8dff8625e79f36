/**
 * Entry of the process that works on the database of a home from outside the server: `node maintenance.js <job as JSON>`. Prints one
 * line of JSON. Verifying and copying go on beside a server; deleting takes the server's lock.
 */
import { rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { HoldpointError, toErrorRecord } from "../contracts/errors.ts";
import { maintenanceJobSchema, type MaintenanceJob } from "../contracts/maintenance.ts";
import { backupFile, previewPrune, pruneFile, takeLock, verifyFile } from "../state/maintenance/index.ts";
import { homeOf, type Home } from "./home.ts";

async function perform(job: MaintenanceJob): Promise<unknown> {
  const home = homeOf(job.home);
  switch (job.kind) {
    case "verify":
      if (job.file !== null) refuseActive(job.file, home);
      return verifyFile(job.file ?? home.database);
    case "backup":
      return backupFile(home.database, job.target);
    case "prune":
      return job.backup === null ? previewPrune(home.database, job.before) : prune(home, job.before, job.backup);
  }
}

async function prune(home: Home, before: number, backup: string): Promise<unknown> {
  // Opening the lock would make the file of a home that does not exist.
  await previewPrune(home.database, before);
  const lock = takeLock(home.lock);
  try {
    const report = await pruneFile(home.database, before, backup);
    // Conversations of agents stand beside the database, by run.
    for (const runId of report.runIds) rmSync(join(home.dir, "agents", runId), { recursive: true, force: true });
    return report;
  } finally {
    lock.release();
  }
}

/** A backup is meant; whoever names the file in use under another path would believe that there is one. */
function refuseActive(file: string, home: Home): void {
  const id = (path: string): string | undefined => {
    const stat = statSync(path, { throwIfNoEntry: false });
    return stat && `${stat.dev}:${stat.ino}`;
  };
  if (id(file) === undefined || id(file) !== id(home.database)) return;
  throw new HoldpointError("usage", `${file} is the database in use, not a backup.`, {
    remedy: "Verify it with `holdpoint state verify`, without a file.",
  });
}

try {
  const job = maintenanceJobSchema.parse(JSON.parse(process.argv[2] ?? "null"));
  process.stdout.write(`${JSON.stringify({ ok: true, result: await perform(job) })}\n`);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ ok: false, error: toErrorRecord(error) })}\n`);
  process.exitCode = 1;
}
