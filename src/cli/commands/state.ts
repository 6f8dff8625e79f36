/**
 * `holdpoint state verify | backup | prune`: work on the whole database of a home, in a process of its own.
 */
import { execFile } from "node:child_process";
import { resolve } from "node:path";

import { many } from "../../../renderers/text/en/words.ts";
import { resolveHome } from "../../client/home.ts";
import { builtServer } from "../../client/start.ts";
import { HoldpointError, fromErrorRecord } from "../../contracts/errors.ts";
import { maintenanceAnswerSchema, type MaintenanceJob, type MaintenanceResult } from "../../contracts/maintenance.ts";
import { usage, type Context } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { clean, hang, table } from "../layout.ts";
import { when } from "../times.ts";

export async function stateVerify(context: Context, args: string[]): Promise<number> {
  const [file] = args;
  const home = resolveHome(context.home);
  const job = { kind: "verify", home, file: file === undefined ? null : resolve(file) } as const;
  const report = await perform(job);
  context.result(report);
  const { blobs, events, path, problems, resources } = report;
  const seen = `${events} events of ${resources} records and ${blobs} large values`;
  if (problems.length === 0) {
    context.lines(hang(`${clean(path)} is whole: ${seen} fit their digests.`, context.width, "", "  "));
    return EXIT.ok.code;
  }
  context.lines(hang(`${clean(path)} is not whole. ${seen} were read.`, context.width, "", "  "));
  for (const problem of problems) context.lines(hang(clean(problem), context.width, "- ", "  "));
  context.line("Put back a backup that `holdpoint state verify <file>` finds whole.");
  return EXIT.storage.code;
}

export async function stateBackup(context: Context, args: string[]): Promise<number> {
  const target = resolve(args[0] ?? "");
  const report = await perform({ kind: "backup", home: resolveHome(context.home), target });
  context.result(report);
  const { bytes, events, problems } = report;
  context.lines(hang(`${clean(target)}: ${bytes} bytes with ${events} events.`, context.width, "", "  "));
  if (problems.length === 0) return EXIT.ok.code;
  for (const problem of problems) context.lines(hang(clean(problem), context.width, "- ", "  "));
  context.line("The copy has the faults of the database. See `holdpoint state verify`.");
  return EXIT.storage.code;
}

export async function statePrune(context: Context, _args: string[], options: Record<string, unknown>): Promise<void> {
  const before = timeOf(String(options["before"]));
  const backup = typeof options["backup"] === "string" ? resolve(options["backup"]) : null;
  const apply = options["apply"] === true;
  if (apply && backup === null)
    throw usage("--apply deletes, and needs --backup <file> for a copy that is made first.");
  if (!apply && backup !== null) throw usage("--backup is made before runs are deleted, which --apply asks for.");
  const report = await perform({ kind: "prune", home: resolveHome(context.home), before, backup });
  context.result(report);
  if (report.runs.length > 0) {
    const rows = report.runs.map(({ finishedAt, runId, title, workflow }) => [
      clean(runId),
      when(finishedAt),
      clean(title ?? workflow),
    ]);
    const columns = [{ title: "run" }, { title: "ended" }, { title: "title", flexible: true }];
    context.lines(table(columns, rows, context.width));
    if (report.total > report.runs.length) context.line(`… and ${report.total - report.runs.length} more`);
  }
  const resources = many(report.resources, "deleted resource", "deleted resources");
  const runs = many(report.total, "run", "runs");
  const alerts = many(report.alerts, "alert", "alerts");
  const stay = many(report.kept, "run stays", "runs stay");
  if (report.applied) {
    context.line(`Deleted ${runs}, ${resources} and ${alerts} with everything that belongs to them; ${stay}.`);
    context.line(`They are in ${clean(backup ?? "")}.`);
    return;
  }
  context.line(`Ended before ${when(before)} and not needed: ${runs}; ${stay}.`);
  if (report.alerts > 0) context.line(`Over by then: ${alerts}.`);
  if (report.resources > 0) context.line(`The rows of ${resources} can go as well.`);
  if (report.total + report.alerts + report.resources > 0)
    context.line("Nothing was deleted. To delete them, stop the server and add --apply --backup <file>.");
}

function timeOf(text: string): number {
  const time = /^\d{4}-\d{2}-\d{2}(T.*(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(time)) throw usage(`--before "${text}" is no date like 2026-11-30 or 2026-11-30T08:00:00Z.`);
  if (time < 0 || time > Date.now()) throw usage(`--before "${text}" is not in the past.`);
  return time;
}

async function perform<K extends MaintenanceJob["kind"]>(
  job: Extract<MaintenanceJob, { kind: K }>,
): Promise<MaintenanceResult<K>> {
  const args = [builtServer("maintenance.js"), JSON.stringify(job)];
  const said = await new Promise<string>((done, fail) => {
    execFile(process.execPath, args, { maxBuffer: 256 * 1_024 * 1_024 }, (error, stdout, stderr) => {
      if (stdout !== "") done(stdout);
      else
        fail(new HoldpointError("internal", `The ${job.kind} ended without a word. ${stderr || error?.message || ""}`));
    });
  });
  const answer = maintenanceAnswerSchema<K>(job.kind).parse(JSON.parse(said));
  if (!answer.ok) throw fromErrorRecord(answer.error);
  return answer.result;
}
