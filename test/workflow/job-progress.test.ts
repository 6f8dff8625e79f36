// Progress of jobs that run elsewhere: how often it is written, under which name, and that a failed write harms nobody.
import { expect, it } from "vitest";
import { createJobProgressReporter, type JobProgressObject } from "../../src/workflow/index.ts";

function make(write?: (object: JobProgressObject) => unknown) {
  const written: { name: string; body: { at: number; progress: { completed?: number; status: string } } }[] = [];
  const clock = { at: 1_000_000 };
  const reporter = createJobProgressReporter({
    job: "import-7",
    bucket: "jobs",
    prefix: "team/progress",
    now: () => clock.at,
    write: write ?? (({ body, name }) => void written.push({ name, body: JSON.parse(body) as never })),
  });
  const run = (completed: number): Promise<void> =>
    reporter.report({ label: "Import", status: "running", completed, total: 10, unit: "files" });
  return { clock, reporter, run, written };
}

it("is written at most every 30 s under the job's name, the newest last, and a final status at once", async () => {
  const { clock, reporter, run, written } = make();
  await run(1);
  await run(2);
  clock.at += 29_999;
  await run(3);
  expect(written.map(({ body }) => body.progress.completed)).toEqual([1]);
  clock.at += 1;
  await run(4);
  await run(5);
  await reporter.flush();
  await reporter.flush();
  await reporter.report({ label: "Import", status: "completed" });
  expect(written.map(({ body }) => body.progress.completed ?? body.progress.status)).toEqual([1, 4, 5, "completed"]);
  expect(new Set(written.map(({ name }) => name))).toEqual(new Set(["team/progress/import-7/progress.json"]));
  expect(reporter.labels).toEqual({
    progress_schema: "holdpoint.job-progress.v1",
    progress_bucket: "jobs",
    progress_prefix: "team/progress",
  });
});

it("goes on after a write that failed, keeps its error, and writes what was not written with the next one", async () => {
  let broken = true;
  const bodies: string[] = [];
  const { reporter, run } = make(({ body }) => {
    if (broken) throw new Error("no bucket");
    bodies.push(body);
  });
  await run(1);
  expect(reporter.lastError).toMatchObject({ message: "no bucket" });
  broken = false;
  await reporter.flush();
  expect(reporter.lastError).toBeUndefined();
  expect(bodies).toHaveLength(1);
});

it("refuses progress of another shape, and names that make no object name", async () => {
  const { reporter } = make();
  const late = reporter.report({ label: "Import", status: "running", completed: 3, total: 2, unit: "files" });
  await expect(late).rejects.toMatchObject({ kind: "updateRefused" });
  const options = { bucket: "jobs", prefix: "p", write: () => undefined };
  for (const job of ["", "../up", "a/b"]) expect(() => createJobProgressReporter({ ...options, job })).toThrow("job");
  expect(() => createJobProgressReporter({ ...options, job: "j", prefix: "a//b" })).toThrow("prefix");
});
