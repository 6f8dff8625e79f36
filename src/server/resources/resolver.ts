/**
 * What only a manager's code can tell, for `apply`: a process finds the file, checks its name, loads it anew, and asks it for a first
 * status. It is kept for a while for the same manager of the same project, so that many resources do not start as many processes.
 * What it says is believed only while the file still is where the rules look for it and has the very bytes that were loaded.
 */
import { realpath } from "node:fs/promises";
import { fromErrorRecord, HoldpointError, isHoldpointError } from "../../contracts/errors.ts";
import { LANES, PROCESS, RESOURCE } from "../../contracts/limits.ts";
import {
  fromResourceRunnerSchema,
  type FromResourceRunner,
  type ToResourceRunner,
} from "../../contracts/protocol/resource-runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { findManager } from "../../contracts/resource/discovery.ts";
import type { SourceContent } from "../../state/store.ts";
import { gist } from "../crash-log.ts";
import type { ChildExit } from "../ports.ts";
import { Lane } from "../runs/lane.ts";
import { RunnerPool } from "../runs/runner-pool.ts";
import { readSource } from "../runs/source-files.ts";
import { Worker, type WorkerDeps } from "../runs/worker.ts";
import type { ResolvedManager, ResolveRequest } from "./resources.ts";

/** Of an idle resolver no file is of any use: it loads everything anew. */
const NO_SOURCES: readonly [] = [];

type ResolverWorker = Worker<FromResourceRunner, ToResourceRunner>;
type Resolved = Extract<FromResourceRunner, { type: "resolved" }>;

export class SourceResolver {
  readonly #deps: WorkerDeps & { readonly cacheDir: string };
  readonly #lane = new Lane(LANES.control);
  readonly #pool: RunnerPool<FromResourceRunner, ToResourceRunner>;
  readonly #working = new Set<ResolverWorker>();
  #stopped = false;

  constructor(deps: WorkerDeps & { readonly cacheDir: string }) {
    this.#deps = deps;
    this.#pool = new RunnerPool(deps.ports.clock, deps.log, (worker, { code, signal }) => {
      deps.log.warn({ pid: worker.child.pid, code, signal }, "an idle resolver ended by itself");
    });
  }

  /** Throws `managerNotFound`, `managerLoad`, `managerSourceChanged`, and `resourceInvalid` with the manager's words. */
  resolve(request: ResolveRequest): Promise<ResolvedManager> {
    return this.#lane.run(async () => {
      if (this.#stopped) throw new HoldpointError("serverUnavailable", "The server stops; nothing was changed.");
      const place = JSON.stringify([request.projectPath, request.manager, request.path]);
      const worker = this.#pool.take(NO_SOURCES, place) ?? (await this.#launch(request));
      this.#working.add(worker);
      try {
        const { initialStatus, released, resolved } = await this.#ask(worker, request);
        const sources = await verified(request, resolved);
        if (await isReleased(worker, released)) this.#pool.keep(worker, place, NO_SOURCES);
        this.#pool.shrink(LANES.control);
        return { path: resolved.path, initialStatus, sources };
      } catch (error) {
        await worker.end();
        throw error;
      } finally {
        this.#working.delete(worker);
      }
    });
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await Promise.all([...this.#working].map((worker) => worker.end()));
    await this.#pool.stop();
  }

  #launch({ manager }: ResolveRequest): Promise<ResolverWorker> {
    const name = `${manager} (resolve)`;
    return Worker.launch(this.#deps, { kind: "resource", name, schema: fromResourceRunnerSchema });
  }

  async #ask(
    worker: ResolverWorker,
    request: ResolveRequest,
  ): Promise<{ resolved: Resolved; initialStatus: JsonValue; released: Promise<void> }> {
    let setReleased: () => void = () => undefined;
    const released = new Promise<void>((resolve) => (setReleased = resolve));
    let late = false;
    const guard = setTimeout(() => {
      late = true;
      void worker.end();
    }, RESOURCE.resolveMs);
    try {
      return await new Promise((resolve, reject) => {
        let initialStatus: JsonValue = null;
        worker.child.port.onFrame((frame) => {
          if (frame.type === "value") initialStatus = frame.value;
          else if (frame.type === "resolved") resolve({ resolved: frame, initialStatus, released });
          else if (frame.type === "released") setReleased();
          else if (frame.type === "runner.failed") reject(fromErrorRecord(frame.error));
        });
        const { cacheDir } = this.#deps;
        const { manager, path, projectPath, spec } = request;
        const launch = { manager, path, projectPath, spec, cacheDir };
        worker.child.port.send({ type: "resolve", schema: "holdpoint.resolve.v1", protocol: 1, ...launch });
        const failed = (exit: ChildExit): void => {
          const how = late
            ? `did not return within ${RESOURCE.resolveMs} ms`
            : `ended its process (${exit.signal ?? `code ${exit.code}`})${exit.diagnostic ? `: ${gist(exit.diagnostic)}` : ""}`;
          reject(new HoldpointError("managerLoad", `Loading resource manager "${manager}" ${how}.`));
        };
        void worker.gone.then(failed);
      });
    } finally {
      clearTimeout(guard);
    }
  }
}

/** Whether the process may take another request; one that can not is ended. */
async function isReleased(worker: ResolverWorker, released: Promise<void>): Promise<boolean> {
  const guard = setTimeout(() => void worker.end(), PROCESS.killGraceMs);
  const exit = await Promise.race([released.then(() => null), worker.gone]);
  clearTimeout(guard);
  return exit === null;
}

/** The files as the disk has them now, if they are what was loaded and the name still leads there. */
async function verified(request: ResolveRequest, { path, sources }: Resolved): Promise<SourceContent[]> {
  const changed = (why: string): HoldpointError =>
    new HoldpointError(
      "managerSourceChanged",
      `Resource manager "${request.manager}" changed while it was applied: ${why}.`,
    );
  const found = await findManager(request.manager, request.projectPath, request.path)
    .then((given) => realpath(given))
    .catch(() => null);
  if (found !== path) throw changed(`the name leads to ${found ?? "no file"}, not to ${path}`);
  if (!sources.some((source) => source.path === path)) throw changed(`${path} is not among what was loaded`);
  try {
    return await Promise.all(sources.map((source) => readSource(source)));
  } catch (error) {
    throw changed(isHoldpointError(error) ? error.message.replace(/\.$/, "") : String(error));
  }
}
