/**
 * The write queue: one transaction for all commands that are waiting, a savepoint for each, promises resolved only after
 * the commit is on disk. It owns the writing connection; nobody else writes.
 */
import type Database from "better-sqlite3";
import { HoldpointError } from "../contracts/errors.ts";
import type { RandomBytes } from "../contracts/ids.ts";
import { QUEUE } from "../contracts/limits.ts";
import type { Command } from "./command.ts";
import { asStoreError, batchError, failureClass } from "./failures.ts";
import type { FaultSeam } from "./faults.ts";
import type { Statements } from "./statements.ts";
import { StoreTx } from "./tx.ts";

export interface QueuePorts {
  readonly db: Database.Database;
  readonly statements: Statements;
  readonly clock: { now(): number };
  readonly random: RandomBytes;
  readonly faults?: FaultSeam | undefined;
  /** The connection can no longer be trusted: the server must exit and recover from disk. */
  readonly onFatal?: ((error: unknown) => void) | undefined;
  /** Milliseconds of work, for the limit of a batch; monotonic. */
  readonly elapsed?: (() => number) | undefined;
}

interface Job {
  // oxlint-disable-next-line no-explicit-any -- commands of all inputs wait in one line
  readonly command: Command<any, any>;
  readonly input: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
  outcome: { ok: true; value: unknown } | { ok: false; error: unknown } | null;
}

/** Thrown through the batch loop when the transaction is gone or a statement of the queue itself failed. */
class BatchLost extends Error {}

export class WriteQueue {
  readonly #ports: QueuePorts;
  readonly #elapsed: () => number;
  readonly #begin: Database.Statement;
  readonly #commit: Database.Statement;
  readonly #savepoint: Database.Statement;
  readonly #release: Database.Statement;
  readonly #undo: Database.Statement;
  #waiting: Job[] = [];
  #scheduled = false;
  #inCommand = false;
  #closed: HoldpointError | null = null;
  #idlers: (() => void)[] = [];

  constructor(ports: QueuePorts) {
    this.#ports = ports;
    this.#elapsed = ports.elapsed ?? (() => performance.now());
    const { db } = ports;
    this.#begin = db.prepare("BEGIN IMMEDIATE");
    this.#commit = db.prepare("COMMIT");
    this.#savepoint = db.prepare("SAVEPOINT command");
    this.#release = db.prepare("RELEASE command");
    this.#undo = db.prepare("ROLLBACK TO command");
  }

  /** Throws `storeMisuse` while a command runs: what it needs, it reads and writes through its Tx. */
  assertOutside(): void {
    if (this.#inCommand) throw new HoldpointError("storeMisuse", "The store was called inside a command.");
  }

  /**
   * Puts a command in line. The promise settles after the commit of its batch: resolved with the command's value, or
   * rejected with its own error, or with `notWritten`, `diskFull` or `storageBroken` when the batch was not committed.
   */
  submit<I, O>(command: Command<I, O>, input: I): Promise<O> {
    this.assertOutside();
    if (this.#closed !== null) return Promise.reject(this.#closed);
    return new Promise<O>((resolve, reject) => {
      this.#waiting.push({ command, input, resolve: resolve as (value: unknown) => void, reject, outcome: null });
      this.#schedule();
    });
  }

  /** Resolves when nothing waits and the callers of the last batch have had their turn. */
  idle(): Promise<void> {
    this.assertOutside();
    return new Promise((resolve) => {
      this.#idlers.push(resolve);
      this.#schedule();
    });
  }

  /** Refuses new commands and rejects waiting ones. */
  close(): void {
    this.assertOutside();
    this.#shut(new HoldpointError("storeMisuse", "The store is closed."));
  }

  #shut(reason: HoldpointError): void {
    this.#closed ??= reason;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const job of waiting) job.reject(reason);
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      this.#turn();
    });
  }

  #turn(): void {
    if (this.#waiting.length === 0) {
      const idlers = this.#idlers;
      this.#idlers = [];
      for (const resolve of idlers) resolve();
      return;
    }
    this.#batch();
    // Another turn for what waits, and for idlers: they wait until a turn finds nothing left by the callers just told.
    if (this.#waiting.length > 0 || this.#idlers.length > 0) this.#schedule();
  }

  #batch(): void {
    const line = this.#line();
    const done: Job[] = [];
    let taken = 0;
    try {
      this.#begin.run();
      const start = this.#elapsed();
      while (taken < line.jobs.length) {
        const job = line.jobs[taken] as Job;
        taken += 1;
        done.push(job);
        this.#execute(job);
        if (!line.whole && this.#elapsed() - start >= QUEUE.batchMs) break;
      }
      const labels = done
        .filter((job) => job.outcome?.ok === true && !line.noise.has(job))
        .map((job) => job.command.label);
      this.#ports.faults?.before(labels);
      this.#commit.run();
      this.#keep(line.jobs, taken);
      this.#ports.faults?.after(labels);
    } catch (error) {
      // Even a failed BEGIN took one command out of line, else a broken file would be tried for ever.
      if (done.length === 0) done.push(...line.jobs.slice(0, (taken = line.jobs.length)));
      this.#keep(line.jobs, taken);
      this.#fail(done, error instanceof BatchLost ? error.cause : error);
      return;
    }
    for (const job of done) {
      if (job.outcome?.ok === true) job.resolve(job.outcome.value);
      else job.reject(asStoreError(job.outcome?.error));
    }
  }

  /** The commands of the next batch, with the noise of the fault seam around them. */
  #line(): { jobs: Job[]; noise: Set<Job>; whole: boolean } {
    const jobs = this.#waiting.slice(0, QUEUE.batchCommands);
    const added = this.#ports.faults?.noise?.(jobs.map((job) => job.command.label)) ?? [];
    const silent = (): void => undefined;
    const noise = added.map(({ command, input }): Job => ({
      command,
      input,
      resolve: silent,
      reject: silent,
      outcome: null,
    }));
    const half = Math.ceil(noise.length / 2);
    this.#waiting = this.#waiting.slice(jobs.length);
    return {
      jobs: [...noise.slice(0, half), ...jobs, ...noise.slice(half)],
      noise: new Set(noise),
      whole: noise.length > 0,
    };
  }

  /** Commands that the batch did not reach go back to the front of the line. */
  #keep(jobs: Job[], taken: number): void {
    if (taken < jobs.length) this.#waiting = [...jobs.slice(taken), ...this.#waiting];
  }

  /** Runs one command in its savepoint. Its own error stays with it; anything that touches the batch is thrown. */
  #execute(job: Job): void {
    const { db, statements, clock, random } = this.#ports;
    this.#savepoint.run();
    this.#inCommand = true;
    try {
      const tx = new StoreTx(statements, clock.now(), random);
      const value: unknown = job.command.run(tx, job.input);
      refusePromise(job.command.label, value);
      tx.flush();
      job.outcome = { ok: true, value };
    } catch (error) {
      job.outcome = { ok: false, error };
    } finally {
      this.#inCommand = false;
    }
    const error = job.outcome.ok ? null : job.outcome.error;
    if (!db.inTransaction) {
      throw new BatchLost("lost", {
        cause: error ?? new Error(`command ${job.command.label} ended the transaction of its batch`),
      });
    }
    if (failureClass(error) === "fatal") throw new BatchLost("fatal", { cause: error });
    if (error !== null) this.#undo.run();
    this.#release.run();
  }

  /** Nothing of the batch was written: no promise of it is resolved. */
  #fail(done: readonly Job[], error: unknown): void {
    const { db, onFatal } = this.#ports;
    let fatal = failureClass(error) === "fatal";
    try {
      if (db.inTransaction) db.exec("ROLLBACK");
    } catch {
      fatal = true;
    }
    const shown = batchError(error);
    for (const job of done) {
      const own = job.outcome?.ok === false && job.outcome.error !== error;
      job.reject(own ? asStoreError((job.outcome as { error: unknown }).error) : shown);
    }
    if (!fatal) return;
    this.#shut(new HoldpointError("storageBroken", shown.message, { cause: error }));
    onFatal?.(error);
  }
}

function refusePromise(label: string, value: unknown): void {
  if (typeof value !== "object" || value === null || typeof (value as { then?: unknown }).then !== "function") return;
  // The promise is nobody's now; its own failure must not end the process.
  void Promise.resolve(value).catch(() => undefined);
  throw new HoldpointError("storeMisuse", `Command ${label} returned a promise; a command is synchronous.`);
}
