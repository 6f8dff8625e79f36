/**
 * The runner's side of runner.v1 for one launch: loads the workflow, takes the resume state, and carries what the engine
 * says to the server and back. It decides nothing and stores nothing.
 */
import { HoldpointError } from "../contracts/errors.ts";
import type { FromRunner, NodeResult, Position, RunnerLaunch, ToRunner } from "../contracts/protocol/runner.ts";
import type { FramePort } from "../contracts/wire/frames.ts";
import { Engine } from "../workflow/engine/index.ts";
import type { ExecutedStep } from "../workflow/index.ts";
import { loadWorkflow, type LoadedWorkflow } from "./load.ts";
import { rehearse } from "./rehearsal.ts";
import { ServerHost } from "./server-host.ts";

/** How the launch ended. After `claimLost` not another byte may be written; `broken` is nobody's doing but ours. */
export type SessionEnd =
  | { readonly kind: "ended"; readonly reason: string }
  | { readonly kind: "claimLost" }
  | { readonly kind: "broken"; readonly error: unknown };

/** Serves one launch over the port. Resolves once, when the process may end; never rejects. */
export function runSession(port: FramePort<ToRunner, FromRunner>): Promise<SessionEnd> {
  return new Promise((resolve) => {
    const session = new Session((frame) => port.send(frame), resolve);
    port.onFrame((frame) => session.take(frame));
  });
}

class Session {
  readonly #write: (frame: FromRunner) => void;
  readonly #end: (end: SessionEnd) => void;
  readonly #host: ServerHost;
  readonly #results: NodeResult[] = [];
  readonly #steps: ExecutedStep[] = [];
  #launched = false;
  #loaded: LoadedWorkflow | undefined;
  #engine: Engine | undefined;
  #over = false;

  constructor(write: (frame: FromRunner) => void, end: (end: SessionEnd) => void) {
    this.#write = write;
    this.#end = end;
    this.#host = new ServerHost((frame) => this.#send(frame));
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
        return this.#guard(this.#launch(frame));
      case "state.results":
        this.#results.push(...frame.items);
        return;
      case "state.steps":
        if (frame.first !== this.#steps.length) {
          throw unexpected(`steps from ${frame.first} on after ${this.#steps.length} steps`);
        }
        for (const [nodeId, outcome] of frame.steps) this.#steps.push({ nodeId, outcome });
        return;
      case "go":
        return this.#go(frame.position, frame.visits);
      case "ack":
        this.#engine?.acknowledge(frame.through);
        return this.#host.acknowledge(frame.through);
      case "rewind":
        this.#engine?.rewind(frame.from, frame.position, frame.visits);
        return this.#host.rewind(frame.from);
      case "reply":
      case "effect.reserved":
        if (!this.#host.answer(frame)) throw unexpected(`a reply to message ${frame.messageId}`);
        return;
      case "claimLost":
        this.#engine?.stop("another owner has the run");
        return this.#finish({ kind: "claimLost" });
      case "stop":
        this.#engine?.stop(frame.reason);
        return this.#finish({ kind: "ended", reason: `stopped: ${frame.reason}`.slice(0, 200) });
    }
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
    this.#send({ type: "ready", definition: snapshot, definitionDigest: digest, sources, title, ...made });
    await rehearse(() => !this.#over && this.#engine === undefined);
  }

  #go(position: Position, visits: Readonly<Record<string, number>>): void {
    const loaded = this.#loaded;
    if (loaded === undefined || this.#engine !== undefined) throw unexpected("go");
    const { definition, input, snapshot } = loaded;
    const resume = { position, visits, results: this.#results, steps: this.#steps };
    this.#engine = new Engine({ definition, snapshot, input, host: this.#host, resume });
    this.#guard(this.#execute(this.#engine));
  }

  async #execute(engine: Engine): Promise<void> {
    const end = await engine.run();
    // A stop has said its own last word.
    if (end.kind === "stopped") return;
    this.#finish({ kind: "ended", reason: end.kind === "parked" ? `parked: ${end.reason}` : end.end.status });
  }

  #send(frame: FromRunner): void {
    if (!this.#over) this.#write(frame);
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.#finish({ kind: "broken", error }));
  }

  #finish(end: SessionEnd): void {
    if (this.#over) return;
    if (end.kind === "ended") this.#send({ type: "exiting", reason: end.reason });
    this.#over = true;
    this.#end(end);
  }
}

function unexpected(what: string): HoldpointError {
  return new HoldpointError("protocolRejected", `The server sent ${what}, which does not fit here.`);
}
