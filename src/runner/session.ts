/**
 * The runner's side of runner.v1 for one launch: loads the workflow, takes the resume state, and carries what the engine
 * says to the server and back. It decides nothing and stores nothing.
 */
import type { SourceFile } from "../contracts/definition.ts";
import { HoldpointError } from "../contracts/errors.ts";
import type { FromRunner, Judge, NodeResult, Position, RunnerLaunch, ToRunner } from "../contracts/protocol/runner.ts";
import type { MountState } from "../contracts/include.ts";
import type { FramePort } from "../contracts/wire/frames.ts";
import { Engine } from "../workflow/engine/index.ts";
import type { ExecutedStep } from "../workflow/index.ts";
import { loadWorkflow, type LoadedWorkflow } from "./load.ts";
import { judge } from "./judge.ts";
import { rehearse } from "./rehearsal.ts";
import { ServerHost } from "./server-host.ts";

/** How the launch ended. After `claimLost` not another byte may be written; `broken` is nobody's doing but ours. */
export type SessionEnd =
  /** `cwd`: the run finished or parked, and this was the working folder in which its work began. */
  | { readonly kind: "ended"; readonly reason: string; readonly cwd?: string }
  | { readonly kind: "claimLost" }
  | { readonly kind: "broken"; readonly error: unknown };

/** Serves one launch over the port. Resolves once, when the process may end; never rejects. */
export function runSession(port: FramePort<ToRunner, FromRunner>): Promise<SessionEnd> {
  return new Promise((resolve) => {
    const session = new Session((...frames) => port.send(...frames), resolve);
    port.onFrame((frame) => session.take(frame));
  });
}

class Session {
  readonly #write: (...frames: FromRunner[]) => void;
  readonly #end: (end: SessionEnd) => void;
  readonly #host: ServerHost;
  readonly #results: NodeResult[] = [];
  readonly #steps: ExecutedStep[] = [];
  readonly #mounts: MountState[] = [];
  #launched = false;
  #stepwise = false;
  #loaded: LoadedWorkflow | undefined;
  #engine: Engine | undefined;
  #going = false;
  #over = false;

  constructor(write: (...frames: FromRunner[]) => void, end: (end: SessionEnd) => void) {
    this.#write = write;
    this.#end = end;
    this.#host = new ServerHost((...frames) => this.#send(...frames));
  }

  take(frame: ToRunner): void {
    if (this.#over) return;
    try {
      this.#take(frame);
    } catch (error) {
      this.#finish({ kind: "broken", error });
    }
  }

  #take(frame: ToRunner): void {
    switch (frame.type) {
      case "launch":
        if (this.#launched) throw unexpected("a second launch");
        this.#launched = true;
        this.#stepwise = frame.stepwise ?? false;
        this.#host.launched(frame);
        return this.#guard(this.#launch(frame));
      case "judge":
        if (this.#launched) throw unexpected("a change to judge after a launch");
        this.#launched = true;
        return this.#guard(this.#judge(frame));
      case "state.results":
        this.#results.push(...frame.items);
        return;
      case "state.steps":
        if (frame.first !== this.#steps.length) {
          throw unexpected(`steps from ${frame.first} on after ${this.#steps.length} steps`);
        }
        for (const [nodeId, outcome] of frame.steps) this.#steps.push({ nodeId, outcome });
        return;
      case "state.mounts":
        this.#mounts.push(...frame.items);
        return;
      case "go":
        if (this.#loaded === undefined || this.#going) throw unexpected("go");
        this.#going = true;
        return this.#guard(this.#go(this.#loaded, frame.position, frame.visits));
      case "ack":
        this.#engine?.acknowledge(frame.through);
        return this.#host.acknowledge(frame.through);
      case "rewind":
        this.#engine?.rewind(frame.from, frame.position, frame.visits);
        return this.#host.rewind(frame.from);
      case "effect.reserved":
        if (frame.through !== undefined) {
          this.#engine?.acknowledge(frame.through);
          this.#host.acknowledge(frame.through);
        }
        if (!this.#host.answer(frame)) throw unexpected(`a reply to message ${frame.messageId}`);
        return;
      case "reply":
      case "content.part":
        if (!this.#host.answer(frame)) throw unexpected(`a reply to message ${frame.messageId}`);
        return;
      case "settings.changed":
        return this.#engine?.settingsChanged(frame.version);
      case "ping":
        return this.#send({ type: "alive" });
      case "claimLost":
        this.#engine?.stop("another owner has the run");
        return this.#finish({ kind: "claimLost" });
      case "stop":
        this.#engine?.stop(frame.reason);
        return this.#finish({ kind: "ended", reason: `stopped: ${frame.reason}`.slice(0, 200) });
    }
  }

  async #judge(frame: Judge): Promise<void> {
    const error = await judge(frame);
    this.#send({ type: "judged", error: error?.toRecord() ?? null });
    this.#finish({ kind: "ended", reason: "judged" });
  }

  async #launch(launch: RunnerLaunch): Promise<void> {
    const loaded = await loadWorkflow(launch);
    if (this.#over) return;
    if (loaded.kind !== "loaded") {
      const changed = loaded.kind === "changed";
      const error = loaded.error.toRecord();
      this.#send(changed ? { type: "park", reason: "workflowSourceChanged", error } : { type: "loadFailed", error });
      return this.#finish({ kind: "ended", reason: changed ? "source changed" : "load failed" });
    }
    this.#loaded = loaded;
    const { digest, input, parsed, snapshot, sources, title } = loaded;
    const made = parsed ? { input } : {};
    // What the server has is not sent again.
    const news = {
      ...(launch.definitionDigest === digest ? {} : { definition: snapshot }),
      ...(sameSources(launch.sources, sources) ? {} : { sources }),
    };
    this.#send({ type: "ready", definitionDigest: digest, title, ...news, ...made });
    await rehearse(() => !this.#over && !this.#going);
  }

  async #go(loaded: LoadedWorkflow, position: Position, visits: Readonly<Record<string, number>>): Promise<void> {
    const { definition, input } = loaded;
    const { results, mounts } = await this.#stateWithContents();
    if (this.#over) return;
    // Mounts whose inputs nobody has made yet are entered by the engine, which then says what they are.
    const entered = mounts.some(({ input }) => input !== undefined) || position.step > 0;
    const resume = { position, visits, results, steps: this.#steps, ...(entered ? { mounts } : {}) };
    this.#engine = new Engine({ definition, input, host: this.#host, resume, stepwise: this.#stepwise });
    await this.#execute(this.#engine);
  }

  /** What the server handed over by reference is read before the first node may look at it. */
  async #stateWithContents(): Promise<{ results: NodeResult[]; mounts: MountState[] }> {
    const results: NodeResult[] = [];
    for (const { outputRef, ...result } of this.#results)
      results.push(outputRef === undefined ? result : { ...result, output: await this.#host.readContent(outputRef) });
    const mounts: MountState[] = [];
    for (const { inputRef, ...mount } of this.#mounts)
      mounts.push(inputRef === undefined ? mount : { ...mount, input: await this.#host.readContent(inputRef) });
    return { results, mounts };
  }

  async #execute(engine: Engine): Promise<void> {
    const end = await engine.run();
    // A stop has said its own last word.
    if (end.kind === "stopped") return;
    const reason = end.kind === "parked" ? `parked: ${end.reason}` : end.end.status;
    this.#finish({ kind: "ended", reason, ...(this.#loaded === undefined ? {} : { cwd: this.#loaded.cwd }) });
  }

  #send(...frames: FromRunner[]): void {
    if (!this.#over) this.#write(...frames);
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.#finish({ kind: "broken", error }));
  }

  #finish(end: SessionEnd): void {
    if (this.#over) return;
    // After an orderly end it is not decided yet whether the process leaves.
    if (end.kind === "ended" && end.cwd === undefined) this.#send({ type: "exiting", reason: end.reason });
    this.#over = true;
    this.#end(end);
  }
}

function sameSources(approved: RunnerLaunch["sources"], loaded: readonly SourceFile[]): boolean {
  if (approved?.length !== loaded.length) return false;
  return approved.every(({ path, sha256 }, index) => loaded[index]?.path === path && loaded[index].sha256 === sha256);
}

function unexpected(what: string): HoldpointError {
  return new HoldpointError("protocolRejected", `The server sent ${what}, which does not fit here.`);
}
