/** The runner's side of one pass, or of one resolution. It decides nothing and stores nothing. */
import { asHoldpointError, HoldpointError } from "../../contracts/errors.ts";
import type {
  FromResourceRunner,
  ReconcileLaunch,
  ResolveLaunch,
  ToResourceRunner,
} from "../../contracts/protocol/resource-runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ReconcileResult } from "../../contracts/resource/result.ts";
import type { FramePort } from "../../contracts/wire/frames.ts";
import { runPass } from "../../resource/pass.ts";
import { loadApproved } from "./load.ts";
import { resolveManager } from "./resolve.ts";
import { ServerPassHost } from "./server-host.ts";

/** `cwd`: the pass or resolution ended, and this was the working folder in which it began; only then the process may serve another. */
export type ResourceSessionEnd =
  | { readonly kind: "ended"; readonly cwd?: string }
  | { readonly kind: "broken"; readonly error: unknown };

/** Serves one launch over the port. Resolves once; never rejects. */
export function resourceSession(port: FramePort<ToResourceRunner, FromResourceRunner>): Promise<ResourceSessionEnd> {
  return new Promise((resolve) => {
    const session = new Session((...frames) => port.send(...frames), resolve);
    port.onFrame((frame) => session.take(frame));
  });
}

class Session {
  readonly #write: (...frames: FromResourceRunner[]) => void;
  readonly #end: (end: ResourceSessionEnd) => void;
  readonly #abort = new AbortController();
  readonly #values = new Map<"spec" | "status", JsonValue>();
  #launch: ReconcileLaunch | undefined;
  #host: ServerPassHost | undefined;
  #begun = false;
  #over = false;

  constructor(write: (...frames: FromResourceRunner[]) => void, end: (end: ResourceSessionEnd) => void) {
    this.#write = write;
    this.#end = end;
  }

  take(frame: ToResourceRunner): void {
    if (this.#over) return;
    try {
      this.#take(frame);
    } catch (error) {
      this.#finish({ kind: "broken", error });
    }
  }

  #take(frame: ToResourceRunner): void {
    switch (frame.type) {
      case "reconcile":
        if (this.#launch !== undefined) throw unexpected("a second launch");
        this.#launch = frame;
        return;
      case "value":
        this.#values.set(frame.of, frame.value);
        return this.#begin();
      case "resolve":
        return this.#guard(this.#resolve(frame));
      case "reply":
        if (this.#host?.answer(frame) !== true) throw unexpected(`a reply to message ${frame.messageId}`);
        return;
      case "abort":
        return this.#abort.abort(new HoldpointError("reconcileTimedOut", frame.reason));
    }
  }

  #begin(): void {
    const launch = this.#launch;
    const spec = this.#values.get("spec");
    const status = this.#values.get("status");
    if (launch === undefined || spec === undefined || status === undefined || this.#begun) return;
    this.#begun = true;
    const { metadata, status: known } = launch.resource;
    const resource = { metadata, spec, status: { ...known, resourceManagerStatus: status } };
    this.#guard(this.#reconcile({ ...launch, resource }));
  }

  async #reconcile(launch: ReconcileLaunch): Promise<void> {
    let loaded: Awaited<ReturnType<typeof loadApproved>>;
    try {
      loaded = await loadApproved(launch);
    } catch (error) {
      this.#send({ type: "runner.failed", error: asHoldpointError(error).toRecord() });
      return this.#finish({ kind: "ended" });
    }
    const { cwd, manager } = loaded;
    const host = new ServerPassHost((frame) => this.#send(frame), launch);
    this.#host = host;
    this.#send({ type: "runner.ready", timeoutMs: manager.timeoutMs });
    const { reconcileId, resource } = launch;
    const end = await runPass({ host, manager, reconcileId, resource, signal: this.#abort.signal });
    if ("error" in end) this.#send({ type: "runner.failed", error: end.error.toRecord() });
    else this.#tell(end.result);
    this.#finish({ kind: "ended", cwd });
  }

  /** The status goes in a frame of its own: both limits are near that of a frame. */
  #tell(result: ReconcileResult): void {
    const { resourceManagerStatus, ...rest } = result;
    const frames: FromResourceRunner[] = [{ type: "runner.finished", result: rest }];
    if (resourceManagerStatus !== undefined)
      frames.unshift({ type: "value", of: "status", value: resourceManagerStatus });
    try {
      this.#send(...frames);
    } catch (error) {
      this.#send({ type: "runner.failed", error: asHoldpointError(error).toRecord() });
    }
  }

  async #resolve(launch: ResolveLaunch): Promise<void> {
    try {
      const { cwd, frames } = await resolveManager(launch);
      this.#send(...frames);
      this.#finish({ kind: "ended", cwd });
    } catch (error) {
      this.#send({ type: "runner.failed", error: asHoldpointError(error).toRecord() });
      this.#finish({ kind: "ended" });
    }
  }

  #send(...frames: FromResourceRunner[]): void {
    if (!this.#over) this.#write(...frames);
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.#finish({ kind: "broken", error }));
  }

  #finish(end: ResourceSessionEnd): void {
    if (this.#over) return;
    this.#over = true;
    this.#end(end);
  }
}

function unexpected(what: string): HoldpointError {
  return new HoldpointError("protocolRejected", `The server sent ${what}, which does not fit here.`);
}
