/**
 * Whether the runs that wait for an answer can be continued with it: looked at when the server starts, and when people list what waits.
 * What is found is stored, so that lists and cards say it before anybody taps.
 */
import { builtinIdOf } from "../../contracts/builtins.ts";
import { sha256Hex } from "../../contracts/ids.ts";
import type { SourceFile } from "../../contracts/definition.ts";
import { type ErrorRecord, HoldpointError, toErrorRecord } from "../../contracts/errors.ts";
import { PAGE, SOURCES } from "../../contracts/limits.ts";
import type { Store, WaitingSources } from "../../state/store.ts";
import type { Wake } from "../context.ts";
import type { Clock, Log } from "../ports.ts";
import type { Judge } from "./judge.ts";
import { sameOnDisk } from "./source-files.ts";

/** A run that waits for an answer cannot be resumed. */
const WAY_OUT =
  "Restore the files before anybody answers, or cancel the run (`holdpoint cancel <run>`) and start it anew.";

export interface WaitingRunsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly judge: Judge;
}

export class WaitingRuns {
  readonly #deps: WaitingRunsDeps;
  #looking: Promise<void> | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #stopped = false;

  constructor(deps: WaitingRunsDeps) {
    this.#deps = deps;
  }

  /**
   * Looks whether the approved files of every waiting run are still there, in the database or on the disk; not more often than the
   * limit says. Never rejects.
   */
  look(): Promise<void> {
    const { clock } = this.#deps;
    if (this.#looking !== undefined) return this.#looking;
    if (this.#stopped || clock.now() - this.#lookedAt < SOURCES.lookAgainMs) return Promise.resolve();
    this.#lookedAt = clock.now();
    const there = new Map<string, boolean>();
    this.#looking = this.#each((run) => this.#missing(run, there)).finally(() => (this.#looking = undefined));
    return this.#looking;
  }

  /**
   * Tries whether the files still make the same workflow, once for runs that share them: of all runs when another product than before
   * is to run them (`all`), else of those that could not be continued when this was tried last. Never rejects.
   */
  tryOut(all: boolean): Promise<void> {
    const tried = new Map<string, Promise<ErrorRecord | null | undefined>>();
    return this.#each(async (run) => {
      if (!all && run.obstacle === null) return undefined;
      const key = JSON.stringify([run.projectPath, run.definitionDigest, run.sources]);
      const known = tried.get(key) ?? this.#loadable(run);
      tried.set(key, known);
      return known;
    });
  }

  stop(): void {
    this.#stopped = true;
  }

  /** `find` tells what stands in the way of a run; undefined leaves open what is known. */
  async #each(find: (run: WaitingSources) => Promise<ErrorRecord | null | undefined>): Promise<void> {
    const { log, store, wake } = this.#deps;
    try {
      for (let after = 0; !this.#stopped;) {
        const page = store.read.runs.waitingSources(after);
        for (const run of page) {
          // oxlint-disable-next-line no-await-in-loop -- one after the other: nobody is in a hurry, and the disk is shared
          const error = await find(run);
          if (error === undefined || this.#stopped || (error === null) === (run.obstacle === null)) continue;
          const said = error === null ? null : { ...error, remedy: WAY_OUT };
          // oxlint-disable-next-line no-await-in-loop
          const { changed } = await store.runs.noteSources({ runNo: run.runNo, error: said });
          if (!changed) continue;
          log.warn(
            { run: run.runId, error },
            error === null ? "a waiting run can go on again" : "a waiting run cannot go on",
          );
          wake.channels();
          wake.views();
        }
        after = page.at(-1)?.runNo ?? 0;
        if (page.length < PAGE.rows) return;
      }
    } catch (error) {
      log.error({ error: toErrorRecord(error) }, "looking at the files of waiting runs failed");
    }
  }

  async #missing(run: WaitingSources, there: Map<string, boolean>): Promise<ErrorRecord | null | undefined> {
    for (const source of run.sources) {
      const key = `${source.path} ${source.sha256}`;
      // oxlint-disable-next-line no-await-in-loop -- ends with the first one
      const found = there.get(key) ?? (await this.#isThere(source));
      there.set(key, found);
      if (!found) return gone(source.path);
    }
    // What was tried and failed is not disproved by the files being there.
    return run.obstacle === null || isGone(run.obstacle) ? null : undefined;
  }

  async #isThere(source: SourceFile): Promise<boolean> {
    try {
      if (sha256Hex(this.#deps.store.read.runs.source(source.sha256)) === source.sha256) return true;
    } catch {
      // Not in the database; a runner would look at the original, too.
    }
    return sameOnDisk([source]);
  }

  async #loadable(run: WaitingSources): Promise<ErrorRecord | null | undefined> {
    const { runNo: _no, obstacle: _known, ...files } = run;
    try {
      return await this.#deps.judge.ask({ ...files, change: null });
    } catch (error) {
      // Too slow here and now is no proof; the continuation will tell.
      this.#deps.log.warn(
        { run: run.runId, error: toErrorRecord(error) },
        "whether a waiting run can go on is not known",
      );
      return undefined;
    }
  }
}

function gone(path: string): ErrorRecord {
  return new HoldpointError(
    "workflowSourceChanged",
    `The approved content of ${path} is neither in the database nor on the disk any more.${
      builtinIdOf(path) === undefined ? "" : " A version of the product that has this revision can continue it."
    }`,
    { details: { path, missing: true } },
  ).toRecord();
}

function isGone({ details }: ErrorRecord): boolean {
  return (details as { missing?: unknown } | undefined)?.missing === true;
}
