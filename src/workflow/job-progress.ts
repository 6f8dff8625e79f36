/**
 * Progress of a job that runs elsewhere (a batch machine, a cluster): it leaves snapshots in an object store, and whoever watches the
 * job finds them by its labels. Used inside the job, without a run around it.
 */
import { canonicalJson } from "../contracts/canonical.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { JOB_PROGRESS } from "../contracts/limits.ts";
import { isTerminal, type Progress, progressSchema } from "../contracts/progress.ts";

const SCHEMA = "holdpoint.job-progress.v1";
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/;

/** What is written: one object for each job, each time the whole of it. */
export interface JobProgressObject {
  readonly bucket: string;
  /** `<prefix>/<job>/progress.json`. */
  readonly name: string;
  readonly body: string;
  /** Aborted when the write takes too long. */
  readonly signal: AbortSignal;
}

export interface JobProgressOptions {
  readonly job: string;
  readonly bucket: string;
  readonly prefix: string;
  /** Puts the object where it belongs, replacing what is there. What it throws is kept as `lastError`. */
  readonly write: (object: JobProgressObject) => unknown;
  /** Milliseconds since the epoch; default the system's clock. */
  readonly now?: () => number;
}

export interface JobProgressReporter {
  /** To be put on the job, so that its progress can be found: `progress_schema`, `progress_bucket`, `progress_prefix`. */
  readonly labels: Readonly<Record<string, string>>;
  readonly objectName: string;
  /** What the last write came to; undefined when it was successful. */
  readonly lastError: unknown;
  /**
   * Notes progress. It is written at most every 30 s, a final status at once; what comes between is kept, and the newest is written
   * with the next one or by `flush`. Never rejects for a write that failed: the job goes on.
   *
   * @throws HoldpointError `updateRefused` for progress of the wrong shape, or a snapshot above 64 KiB.
   */
  report(progress: Omit<Progress, "schema">): Promise<void>;
  /** Writes what has not been written; before the job ends. */
  flush(): Promise<void>;
}

/**
 * @throws HoldpointError `workflowInvalid` for names that make no object name.
 *
 * @example
 * const reporter = createJobProgressReporter({ job: "import-7", bucket: "jobs", prefix: "progress", write: ({ name, body, signal }) => put(name, body, signal) });
 * await reporter.report({ label: "Import", status: "running", completed: 40, total: 100, unit: "files" });
 */
export function createJobProgressReporter(options: JobProgressOptions): JobProgressReporter {
  const { bucket, job, now = Date.now, prefix, write } = options;
  for (const [what, name] of Object.entries({ job, bucket })) {
    if (!NAME.test(name)) throw invalid(`${what} "${name}" must have the form ${NAME.source}`);
  }
  if (!prefix.split("/").every((part) => NAME.test(part))) throw invalid(`prefix "${prefix}" is no path of names`);
  return new Reporter({ bucket, job, now, prefix, write });
}

class Reporter implements JobProgressReporter {
  readonly labels: Readonly<Record<string, string>>;
  readonly objectName: string;
  lastError: unknown;
  readonly #options: Required<JobProgressOptions>;
  /** The newest snapshot that is not written. */
  #unwritten: string | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** Writes go one after the other, so that an older one never replaces a newer one. */
  #writing: Promise<void> = Promise.resolve();

  constructor(options: Required<JobProgressOptions>) {
    this.#options = options;
    this.objectName = `${options.prefix}/${options.job}/progress.json`;
    this.labels = Object.freeze({
      progress_schema: SCHEMA,
      progress_bucket: options.bucket,
      progress_prefix: options.prefix,
    });
  }

  async report(given: Omit<Progress, "schema">): Promise<void> {
    const { job, now } = this.#options;
    const at = now();
    const parsed = progressSchema.safeParse({ ...given, schema: "holdpoint.progress.v1" });
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      throw refused(
        `Progress of job "${job}" is invalid at "${issue?.path.join(".") ?? ""}": ${issue?.message ?? ""}.`,
      );
    }
    const body = canonicalJson({ schema: SCHEMA, job, at, progress: parsed.data });
    const bytes = Buffer.byteLength(body);
    const limit = JOB_PROGRESS.snapshotBytes;
    if (bytes > limit) throw refused(`The snapshot of job "${job}" has ${bytes} bytes; the limit is ${limit}.`);
    this.#unwritten = body;
    if (isTerminal(parsed.data.status) || at - this.#writtenAt >= JOB_PROGRESS.everyMs) await this.flush();
  }

  flush(): Promise<void> {
    this.#writing = this.#writing.then(() => this.#write());
    return this.#writing;
  }

  async #write(): Promise<void> {
    const body = this.#unwritten;
    if (body === undefined) return;
    const { bucket, now, write } = this.#options;
    this.#writtenAt = now();
    const signal = AbortSignal.timeout(JOB_PROGRESS.writeMs);
    const late = new Promise<never>((_resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
    });
    late.catch(() => undefined);
    try {
      await Promise.race([Promise.resolve(write({ bucket, name: this.objectName, body, signal })), late]);
      this.lastError = undefined;
      if (this.#unwritten === body) this.#unwritten = undefined;
    } catch (error) {
      this.lastError = error;
    }
  }
}

function invalid(what: string): HoldpointError {
  return new HoldpointError("workflowInvalid", `createJobProgressReporter: ${what}.`);
}

function refused(message: string): HoldpointError {
  return new HoldpointError("updateRefused", message);
}
