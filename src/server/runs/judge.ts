/**
 * What only the workflow's own code can tell: each question goes to a process of its own, short-lived, bounded in time and memory,
 * with the approved files of that run. It holds no claim and executes nothing of the run.
 */
import type { SourceFile } from "../../contracts/definition.ts";
import { type ErrorRecord, HoldpointError } from "../../contracts/errors.ts";
import { JUDGE, LANES } from "../../contracts/limits.ts";
import type { FromRunner } from "../../contracts/protocol/runner.ts";
import type { ProposedSettings } from "../../contracts/settings.ts";
import { gist } from "../crash-log.ts";
import type { ChildExit } from "../ports.ts";
import type { ApprovedSources } from "./approved-sources.ts";
import { Lane } from "./lane.ts";
import { Worker, type WorkerDeps } from "./worker.ts";

export interface JudgeDeps extends WorkerDeps {
  readonly cacheDir: string;
  readonly approved: ApprovedSources;
}

export interface Question {
  readonly runId: string;
  readonly projectPath: string;
  readonly workflowPath: string;
  readonly definitionDigest: string;
  readonly sources: SourceFile[];
  /** Null asks only whether the files can be loaded. */
  readonly change: ProposedSettings | null;
}

type Verdict = Extract<FromRunner, { type: "judged" }>;

export class Judge {
  readonly #deps: JudgeDeps;
  readonly #lane = new Lane(LANES.control);
  readonly #working = new Set<Worker>();
  #stopped = false;

  constructor(deps: JudgeDeps) {
    this.#deps = deps;
  }

  /**
   * The workflow's refusal, or null: the change may be stored, and the files can be loaded.
   *
   * @throws HoldpointError `settingsRefused` when the process died or took too long; `serverUnavailable` when the server stops;
   *   `childStart` when there is no process.
   */
  ask(question: Question): Promise<ErrorRecord | null> {
    return this.#lane.run(async () => {
      if (this.#stopped) throw new HoldpointError("serverUnavailable", "The server stops; nothing was changed.");
      await this.#deps.approved.layOut(question.sources).catch((error: unknown) => this.#notLaidOut(error));
      const first = await this.#try(question);
      // Killed by somebody outside, or its answer was lost: that says nothing about the workflow.
      const lost = "code" in first && (first.signal === "SIGKILL" || first.code === 0) && !this.#stopped;
      const end = lost ? await this.#try(question) : first;
      if ("code" in end) throw undecided(howItEnded(end), { limitMb: JUDGE.heapMb });
      return end.error;
    });
  }

  /** Ends what is being judged; resolves when its processes are gone. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#working].map((worker) => worker.end()));
  }

  async #try(question: Question): Promise<Verdict | ChildExit> {
    const worker = await Worker.start(this.#deps, question.runId, JUDGE.heapMb);
    this.#working.add(worker);
    try {
      if (this.#stopped) void worker.end();
      return await this.#ask(worker, question);
    } finally {
      await worker.end();
      this.#working.delete(worker);
    }
  }

  /** The verdict, or how the process ended without one. */
  async #ask({ child, gone }: Worker, question: Question): Promise<Verdict | ChildExit> {
    const answered = new Promise<Verdict>((resolve) => {
      child.port.onFrame((frame) => {
        if (frame.type === "judged") resolve(frame);
      });
    });
    child.port.send({
      type: "judge",
      schema: "holdpoint.runner-judge.v1",
      protocol: 1,
      ...question,
      cacheDir: this.#deps.cacheDir,
      sourcesDir: this.#deps.approved.folder,
    });
    let guard: NodeJS.Timeout | undefined;
    // Real time: it only guards against a hang.
    const late = new Promise<"late">((resolve) => (guard = setTimeout(() => resolve("late"), JUDGE.timeMs)));
    const end = await Promise.race([answered, late, gone]);
    clearTimeout(guard);
    if (end === "late") throw undecided(`gave no answer within ${JUDGE.timeMs / 1_000} s`, { limit: JUDGE.timeMs });
    return end;
  }

  #notLaidOut(error: unknown): void {
    this.#deps.log.error({ error: String(error) }, "approved sources could not be laid out");
  }
}

function howItEnded({ code, diagnostic, signal }: ChildExit): string {
  const how = signal === null ? `ended with code ${code}` : `was ended by ${signal}`;
  const said = gist(diagnostic);
  return said === "" ? how : `${how}: ${said}`;
}

function undecided(how: string, details: Record<string, unknown>): HoldpointError {
  return new HoldpointError("settingsRefused", `The workflow could not judge the change: its process ${how}.`, {
    remedy:
      "The settings are as they were: make the change again. Where it fails each time, see that `parse` and `validateChange` only look at what they are given.",
    details,
  });
}
