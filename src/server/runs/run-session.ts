/**
 * The server's side of runner.v1 for one launch: stores what the runner proposes, acknowledges what is on disk, and tells
 * the runner to rewind or to end. It holds the claim; the runner never sees it.
 */
import { readFile } from "node:fs/promises";
import { HoldpointError, isHoldpointError, toErrorRecord } from "../../contracts/errors.ts";
import { sha256Hex } from "../../contracts/ids.ts";
import type { FromRunner, ToRunner } from "../../contracts/protocol/runner.ts";
import type { SourceFile } from "../../contracts/definition.ts";
import type { Launch, Store } from "../../state/store.ts";
import type { AccessSource, Wake } from "../context.ts";
import type { Child, Clock, Log } from "../ports.ts";

/** Resume state goes out in frames of at most this many items or about this many bytes, well below the frame limit. */
const STATE_ITEMS = 2_000;
const STATE_BYTES = 400_000;

/** Waits between attempts to write when the disk is full. */
const STORAGE_RETRY_MS = 1_000;
const STORAGE_RETRY_MAX_MS = 30_000;

/** A runner that proposes the same refused step this often will not come to another opinion. */
const REWINDS_PER_STEP = 3;

export type SessionEnd = "parked" | "finished" | "claimLost" | "stopped" | "open";

export interface RunSessionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly access: AccessSource;
  readonly cacheDir: string;
}

export class RunSession {
  /** How the conversation ended; "open" until then. A child that exits while it is open has crashed. */
  end: SessionEnd = "open";
  /** The last error this session met; kept for the run's record. */
  error: HoldpointError | undefined;
  readonly claimed: Launch;
  readonly child: Child<FromRunner, ToRunner>;
  readonly #deps: RunSessionDeps;
  /** After a rewind, frames are ignored until the one that begins here. */
  #rewoundTo: number | undefined;
  #lastRewind = -1;
  #rewindsHere = 0;
  /** Called once when the runner has said `ready`, or ended before. */
  onReady: () => void = () => undefined;
  onEnd: (end: SessionEnd) => void = () => undefined;

  constructor(deps: RunSessionDeps, claimed: Launch, child: Child<FromRunner, ToRunner>) {
    this.#deps = deps;
    this.claimed = claimed;
    this.child = child;
  }

  start(): void {
    const { claimed, child } = this;
    child.port.onFrame((frame) => {
      this.#stored(frame).catch((error: unknown) => this.#failed(frame, error));
    });
    child.port.send({
      type: "launch",
      schema: "holdpoint.runner-launch.v1",
      protocol: 1,
      runId: claimed.claim.runId,
      generation: claimed.claim.generation,
      runnerEpoch: claimed.claim.runnerEpoch,
      command: claimed.command,
      projectPath: claimed.projectPath,
      workflowPath: claimed.workflowPath,
      sources: claimed.sources,
      definitionDigest: claimed.definitionDigest,
      input: claimed.input,
      inputParsed: claimed.definitionDigest !== null,
      cacheDir: this.#deps.cacheDir,
    });
  }

  /** Ends the conversation from our side: pause, cancel, or the server stops. */
  stop(reason: string): void {
    if (this.end !== "open") return;
    this.#send({ type: "stop", reason });
    this.#finish("stopped");
  }

  #send(frame: ToRunner): void {
    this.child.port.send(frame);
  }

  #finish(end: SessionEnd): void {
    if (this.end !== "open") return;
    this.end = end;
    this.onEnd(end);
  }

  /** A full disk is waited for: the runner's proposal is kept and repeated, so that nothing it did is lost. */
  async #stored(frame: FromRunner): Promise<void> {
    for (let failures = 0; ; failures += 1) {
      try {
        await this.#handle(frame);
        return this.#deps.wake.views();
      } catch (error) {
        // Frames of steps were followed by others; for them the runner goes back instead.
        if (frame.type === "advance" || !isUnwritten(error)) throw error;
        this.#deps.log.error(
          { run: this.claimed.claim.runId, frame: frame.type, error: toErrorRecord(error) },
          "not written; trying again",
        );
        await this.#pause(Math.min(STORAGE_RETRY_MAX_MS, STORAGE_RETRY_MS * 2 ** failures));
      }
    }
  }

  #pause(ms: number): Promise<void> {
    const { clock } = this.#deps;
    const until = clock.now() + ms;
    return new Promise((resolve) => {
      const look = (): void => {
        if (clock.now() >= until || this.end !== "open") resolve();
        else clock.timer(until, look);
      };
      look();
    });
  }

  async #handle(frame: FromRunner): Promise<void> {
    if (this.end !== "open") return;
    const { store, wake } = this.#deps;
    const { claim } = this.claimed;
    switch (frame.type) {
      case "ready":
        return this.#ready(frame);
      case "loadFailed":
        await store.runs.loadFailed({ claim, error: frame.error });
        return this.#finish("finished");
      case "park":
        await store.runs.park({ claim, reason: frame.reason, error: frame.error });
        return this.#finish("parked");
      case "advance":
        return this.#advance(frame);
      case "effect.reserve": {
        const { messageId, step, nodeId, effectType, recovery, request } = frame;
        const reserved = await store.effects.reserve({ claim, step, nodeId, effectType, recovery, request });
        this.#send({ type: "effect.reserved", messageId, ...reserved });
        if (reserved.state === "ambiguous") this.#finish("parked");
        return;
      }
      case "effect.settle": {
        const { messageId, effectId, attempt, outcome, result, error } = frame;
        const reported = await store.effects.report({ claim, effectId, attempt, outcome, result, error });
        this.#send({ type: "reply", messageId, ok: true, result: { attempt: reported.attempt } });
        if (reported.status === "ambiguous") this.#finish("parked");
        return;
      }
      case "decision": {
        const { messageId, step, nodeId, request } = frame;
        const asked = await store.decisions.request({ claim, step, nodeId, request, access: this.#deps.access() });
        this.#send({
          type: "reply",
          messageId,
          ok: true,
          result: { decisionId: asked.decisionId, fingerprint: asked.fingerprint },
        });
        this.#finish("parked");
        wake.channels();
        wake.deadlines();
        return;
      }
      case "finish":
        await store.runs.finish({ claim, entry: frame.entry });
        this.#send({ type: "reply", messageId: frame.messageId, ok: true });
        this.#finish("finished");
        return wake.channels();
      case "exiting":
        this.#deps.log.debug({ run: claim.runId, reason: frame.reason }, "runner is leaving");
    }
  }

  async #ready(frame: Extract<FromRunner, { type: "ready" }>): Promise<void> {
    const { store } = this.#deps;
    const { claim } = this.claimed;
    const sources = await Promise.all(frame.sources.map((source) => readSource(source)));
    const state = await store.runs.ready({
      claim,
      childId: this.child.childId,
      definition: frame.definition,
      definitionDigest: frame.definitionDigest,
      sources,
      title: frame.title,
      input: frame.input,
    });
    this.onReady();
    if (state.position === null) {
      this.#send({ type: "stop", reason: "the run has ended" });
      this.#finish("finished");
      return this.#deps.wake.channels();
    }
    for (const items of chunks(state.results)) this.#send({ type: "state.results", items });
    let first = 0;
    for (const steps of chunks(state.steps)) {
      this.#send({ type: "state.steps", first, steps });
      first += steps.length;
    }
    this.#send({ type: "go", position: state.position, visits: state.visits });
  }

  async #advance(frame: Extract<FromRunner, { type: "advance" }>): Promise<void> {
    if (this.#rewoundTo !== undefined) {
      if (frame.first !== this.#rewoundTo) return;
      this.#rewoundTo = undefined;
    }
    const result = await this.#deps.store.runs.advance({
      claim: this.claimed.claim,
      first: frame.first,
      entries: frame.entries,
    });
    if (result.rewind === undefined) return this.#send({ type: "ack", through: result.through });
    if (this.#rewoundTo !== undefined) return;
    const { from, reason } = result.rewind;
    this.#rewindsHere = from === this.#lastRewind ? this.#rewindsHere + 1 : 1;
    this.#lastRewind = from;
    if (this.#rewindsHere > REWINDS_PER_STEP) {
      throw new HoldpointError("protocolRejected", `Step ${from} was refused ${this.#rewindsHere} times (${reason}).`);
    }
    this.#rewoundTo = from;
    this.#send({ type: "rewind", ...result.rewind });
  }

  /** A refused proposal: the runner is told, with the reason, and the claim decides what becomes of it. */
  #failed(frame: FromRunner, thrown: unknown): void {
    const { log } = this.#deps;
    const error = isHoldpointError(thrown) ? thrown : new HoldpointError("internal", String(thrown), { cause: thrown });
    const run = this.claimed.claim.runId;
    if (error.kind === "claimLost") {
      this.#send({ type: "claimLost" });
      return this.#finish("claimLost");
    }
    if (frame.type === "advance" && isUnwritten(error)) {
      log.error({ run, code: error.code, message: error.message }, "steps not written; the runner goes back");
      return void this.#rewindLater();
    }
    if (frame.type === "decision" || frame.type === "finish" || frame.type === "effect.settle") {
      log.warn({ run, frame: frame.type, code: error.code, message: error.message }, "proposal refused");
      return this.#send({ type: "reply", messageId: frame.messageId, ok: false, error: toErrorRecord(error) });
    }
    if (frame.type === "effect.reserve") {
      log.warn({ run, frame: frame.type, code: error.code, message: error.message }, "effect refused");
      return this.#send({
        type: "effect.reserved",
        messageId: frame.messageId,
        effectId: "",
        key: "",
        attempt: 0,
        state: "rejected",
        error: toErrorRecord(error),
      });
    }
    log.error({ run, frame: frame.type, code: error.code, message: error.message }, "runner ended by a refusal");
    this.error = error;
    if (error.kind === "workflowSourceChanged") {
      const parked = this.#deps.store.runs.park({
        claim: this.claimed.claim,
        reason: "workflowSourceChanged",
        error: toErrorRecord(error),
      });
      void parked
        .catch((reason: unknown) => log.error({ run, reason: String(reason) }, "parking failed"))
        .then(() => this.#stopFor("parked"));
      return;
    }
    this.#stopFor("stopped");
  }

  /** After a while the runner repeats what could not be written, from where the database stands then. */
  async #rewindLater(): Promise<void> {
    if (this.#rewoundTo !== undefined) return;
    this.#rewoundTo = Number.POSITIVE_INFINITY;
    await this.#pause(STORAGE_RETRY_MS);
    const here = this.#deps.store.read.runs.position(this.claimed.claim.runNo);
    if (here === null || this.end !== "open") return;
    this.#rewoundTo = here.from;
    this.#send({ type: "rewind", reason: "notWritten", ...here });
  }

  #stopFor(end: SessionEnd): void {
    this.#send({ type: "stop", reason: this.error?.message ?? "refused" });
    this.#finish(end);
  }
}

/** The write queue could not commit; nothing of the command is on disk. */
function isUnwritten(error: unknown): boolean {
  return isHoldpointError(error) && (error.kind === "diskFull" || error.kind === "notWritten");
}

/** The file as it is now; a runner that loaded other bytes is refused. */
async function readSource(source: SourceFile): Promise<SourceFile & { content: Buffer }> {
  const content = await readFile(source.path);
  if (sha256Hex(content) !== source.sha256) {
    throw new HoldpointError("workflowSourceChanged", `${source.path} changed while it was being loaded.`);
  }
  return { ...source, content };
}

function* chunks<T>(items: readonly T[]): Generator<T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = JSON.stringify(item).length;
    if (part.length > 0 && (part.length >= STATE_ITEMS || bytes + size > STATE_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(item);
    bytes += size;
  }
  if (part.length > 0) yield part;
}
