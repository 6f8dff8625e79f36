/**
 * The server's side of runner.v1 for one launch: stores what the runner proposes, acknowledges what is on disk, and tells
 * the runner to rewind or to end. It holds the claim; the runner never sees it.
 */
import {
  asHoldpointError,
  type ErrorRecord,
  HoldpointError,
  toErrorRecord,
  isHoldpointError,
} from "../../contracts/errors.ts";
import type { FromRunner, ToRunner } from "../../contracts/protocol/runner.ts";
import type { SettingsVersion } from "../../contracts/settings.ts";
import type { SourceFile } from "../../contracts/definition.ts";
import type { Advanced, HeldStep, Launch, ReserveResult, Store } from "../../state/store.ts";
import type { AccessSource, Wake } from "../context.ts";
import { isUnwritten, pause, untilWritten } from "../until-written.ts";
import type { Child, Clock, Log, Ports } from "../ports.ts";
import type { AgentNodes } from "./agent-nodes.ts";
import { ContentExchange } from "./content-exchange.ts";
import { type Proposal, take } from "./proposals.ts";
import { resumeFrames } from "./resume-frames.ts";
import { fileOf, readSource } from "./source-files.ts";
import { Rewinds } from "./rewinds.ts";
import { StepWatchdog } from "./step-watchdog.ts";

/** A runner whose steps could not be written goes back after this long. */
const STORAGE_RETRY_MS = 1_000;

export type SessionEnd = "parked" | "finished" | "claimLost" | "stopped" | "open";

export interface RunSessionDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly wake: Wake;
  readonly access: AccessSource;
  readonly cacheDir: string;
  /** Where approved source files are laid out. */
  readonly sourcesDir: string;
  readonly agents: AgentNodes;
  readonly ports: Pick<Ports, "processes">;
}

type Steps = Extract<FromRunner, { type: "advance" }>;

function refusedEffect(messageId: number, error: ErrorRecord): Extract<ToRunner, { type: "effect.reserved" }> {
  return { type: "effect.reserved", messageId, effectId: "", key: "", attempt: 0, state: "rejected", error };
}

export class RunSession {
  /** How the conversation ended; "open" until then. A child that exits while it is open has crashed. */
  end: SessionEnd = "open";
  /** The last error this session met; kept for the run's record. */
  error: HoldpointError | undefined;
  /** The step that never gave way, for which the runner was ended. */
  held: HeldStep | undefined;
  readonly claimed: Launch;
  readonly child: Child<FromRunner, ToRunner>;
  /** What was loaded; known with `ready`. */
  sources: readonly SourceFile[] | null;
  workflowPath: string;
  ready = false;
  /** Resolves when the conversation has ended and the process may take another launch. */
  readonly released: Promise<void>;
  #release: () => void = () => undefined;
  readonly #deps: RunSessionDeps;
  readonly #contents: ContentExchange;
  /** What the runner has registered and not reported gone: process id → pid. */
  readonly #groups = new Map<string, number>();
  readonly #rewinds = new Rewinds();
  /** The last steps that came with what is said of an effect, on their way to the disk. */
  #settling: Promise<unknown> | undefined;
  #watchdog: StepWatchdog | undefined;
  #over = false;
  /** Called once when the runner has said `ready`, or ended before. */
  onReady: () => void = () => undefined;
  onEnd: (end: SessionEnd) => void = () => undefined;

  constructor(deps: RunSessionDeps, claimed: Launch, child: Child<FromRunner, ToRunner>) {
    this.#deps = deps;
    this.claimed = claimed;
    this.child = child;
    this.sources = claimed.sources;
    this.workflowPath = claimed.workflowPath;
    this.released = new Promise((resolve) => (this.#release = resolve));
    this.#contents = new ContentExchange(deps.store, claimed.claim);
  }

  start(): void {
    const { claimed, child } = this;
    child.port.onFrame((frame) => {
      this.#watchdog?.heard();
      this.#stored(frame).catch((error: unknown) => this.#failed(frame, error));
    });
    // A frame that breaks the protocol closes the pipe, which ends the child: that is the cause to keep, not its exit code. An error of
    // the pipe itself only says that the child is gone, and its exit says why.
    child.port.onClose((error) => {
      if (isHoldpointError(error) && this.end === "open") this.error ??= error;
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
      sourcesDir: this.#deps.sourcesDir,
      ...this.#deps.agents.launch,
      ...(claimed.stepwise ? { stepwise: true } : {}),
      ...(claimed.interactive ? { interactive: true } : {}),
    });
  }

  /** Ends the conversation from our side: pause, cancel, or the server stops. */
  stop(reason: string): void {
    if (this.end !== "open") return;
    this.#send({ type: "stop", reason });
    this.#finish("stopped");
  }

  /** A person changed settings of this run: attempts that begin from now on see them. */
  settingsChanged(version: SettingsVersion): void {
    if (this.end === "open") this.#send({ type: "settings.changed", version });
  }

  #send(...frames: ToRunner[]): void {
    this.child.port.send(...frames);
  }

  #finish(end: SessionEnd): void {
    if (this.end !== "open") return;
    this.end = end;
    this.#watchdog?.stop();
    this.onEnd(end);
  }

  /** A full disk is waited for: the runner's proposal is kept and repeated, so that nothing it did is lost. */
  async #stored(frame: FromRunner): Promise<void> {
    const what = `${frame.type} of run ${this.claimed.claim.runId}`;
    // Frames of steps were followed by others; for them the runner goes back instead.
    const steps = frame.type === "advance" ? frame : undefined;
    if (steps !== undefined && this.#rewinds.takesBack(steps.first)) return;
    // But what was done outside is told only once.
    const once = (): boolean => steps !== undefined && steps.settle === undefined;
    const written = untilWritten(this.#deps, what, () => this.#handle(frame), once);
    if (steps?.settle !== undefined) this.#settling = written.catch(() => undefined);
    await written;
    this.#deps.wake.views();
  }

  async #handle(frame: FromRunner): Promise<void> {
    if (frame.type === "released" && (this.end === "finished" || this.end === "parked")) return this.#release();
    if (frame.type === "process.unregister") return this.#unregister(frame);
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
        return this.#reserved(messageId, reserved);
      }
      case "effect.settle": {
        const { type: _type, messageId, ...settlement } = frame;
        await this.#contents.settled();
        const reported = await store.effects.report({ claim, ...settlement });
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
      case "checkpoint":
      case "interaction":
      case "interaction.judged":
      case "sleep":
      case "notify":
      case "update":
      case "settings":
      case "enter":
        return this.#proposed(frame);
      case "content.put":
        return this.#contents.put(frame);
      case "content.read":
        return this.#send(this.#contents.read(frame));
      case "finish": {
        await this.#contents.settled();
        const [entry = frame.entry] = this.#contents.withValues([frame.entry]);
        const { again } = await store.runs.finish({ claim, entry });
        if (again) return this.#send({ type: "reply", messageId: frame.messageId, ok: false, error: again });
        this.#send({ type: "reply", messageId: frame.messageId, ok: true });
        this.#finish("finished");
        return wake.channels();
      }
      case "process.register":
        return this.#register(frame);
      case "alive":
        return;
      case "released":
        throw new HoldpointError("protocolRejected", "The runner says that it is free, but its run has not ended.");
      case "exiting":
        this.#deps.log.debug({ run: claim.runId, reason: frame.reason }, "runner is leaving");
    }
  }

  async #proposed(frame: Proposal): Promise<void> {
    if (frame.type === "checkpoint" || frame.type === "interaction.judged") await this.#contents.settled();
    const { offered, parks, result } = await take(this.#deps, this.claimed.claim, frame);
    this.#contents.offer(offered);
    this.#send({ type: "reply", messageId: frame.messageId, ok: true, result });
    if (parks) this.#finish("parked");
  }

  async #ready(frame: Extract<FromRunner, { type: "ready" }>): Promise<void> {
    const { store } = this.#deps;
    const { claim } = this.claimed;
    // A definition is sent by the first launch of a run, and by one that loaded another. In a session there is a Pi.
    const obstacle =
      frame.definition === undefined || this.claimed.interactive
        ? null
        : await this.#deps.agents.obstacle(frame.definition);
    if (this.end !== "open") return;
    if (obstacle !== null) {
      await store.runs.loadFailed({ claim, error: obstacle.toRecord() });
      this.#send({ type: "stop", reason: "the workflow cannot run here" });
      this.#finish("finished");
      return this.#deps.wake.channels();
    }
    const approved = this.claimed.sources;
    if (approved === null && frame.sources === undefined)
      throw new HoldpointError("protocolRejected", "The runner did not say of which files the workflow is made.");
    const sources =
      approved === null
        ? await Promise.all((frame.sources ?? []).map((source) => readSource(source)))
        : (frame.sources ?? approved);
    this.workflowPath = await fileOf(this.claimed.workflowPath, sources);
    const state = await store.runs.ready({
      claim,
      childId: this.child.childId,
      definition: frame.definition,
      definitionDigest: frame.definitionDigest,
      sources,
      workflowPath: this.workflowPath,
      title: frame.title,
      input: frame.input,
    });
    this.sources = sources.map(({ path, sha256 }) => ({ path, sha256 }));
    this.ready = true;
    this.onReady();
    if (state.position === null) {
      this.#send({ type: "stop", reason: "the run has ended" });
      this.#finish("finished");
      return this.#deps.wake.channels();
    }
    this.#send(...resumeFrames(state, (ref) => this.#contents.offer(ref)));
    this.#watch();
  }

  /** Its process serves this launch no longer, however it came to that: nobody is watched any more. */
  over(): void {
    this.#over = true;
    this.#watchdog?.stop();
  }

  #watch(): void {
    // It may have ended while its state was read.
    if (this.#over || this.end !== "open") return;
    const { clock, log, store } = this.#deps;
    const { claim, stepwise } = this.claimed;
    this.#watchdog = new StepWatchdog({
      clock,
      step: () => {
        const held = store.read.runs.heldStep(claim.runNo);
        return held !== null && stepwise ? { ...held, certain: true } : held;
      },
      ping: () => this.#send({ type: "ping" }),
      onSilent: (held) => {
        log.warn({ run: claim.runId, node: held.nodeId, limitMs: held.limitMs }, "a node does not give way");
        this.held = held;
        this.error = new HoldpointError(
          "nodeTimedOut",
          `The runner of ${claim.runId} gave no sign of life at node "${held.nodeId}" for longer than ${held.limitMs} ms.`,
        );
        this.#finish("stopped");
      },
    });
  }

  /** Durable before anything runs; only a direct child of the runner may be registered, as the group will be killed. */
  async #register(frame: Extract<FromRunner, { type: "process.register" }>): Promise<void> {
    const { messageId, kind, nodeId, pid, startIdentity, step } = frame;
    const { ports, store } = this.#deps;
    const parent = await ports.processes.parentOf(pid, startIdentity);
    if (parent !== this.child.pid) {
      throw new HoldpointError("protocolRejected", `Process ${pid} is no child of the runner (${this.child.pid}).`);
    }
    const { claim } = this.claimed;
    const result = await store.processes.register({ claim, kind, nodeId, pid, startIdentity, step });
    this.#groups.set(result.processId, pid);
    ports.processes.watch(pid, "group");
    this.#send({ type: "reply", messageId, ok: true, result });
  }

  async #unregister(frame: Extract<FromRunner, { type: "process.unregister" }>): Promise<void> {
    const { messageId, outcome, processId } = frame;
    await this.#deps.store.processes.ended({ processId, runnerEpoch: this.claimed.claim.runnerEpoch, outcome });
    const pid = this.#groups.get(processId);
    if (pid !== undefined) this.#deps.ports.processes.unwatch(pid);
    this.#groups.delete(processId);
    this.#send({ type: "reply", messageId, ok: true });
  }

  async #advance({ entries, first, reserve, settle }: Steps): Promise<void> {
    const result = await this.#deps.store.runs.advance({
      claim: this.claimed.claim,
      first,
      entries: this.#contents.withValues(entries),
      settle,
      reserve,
    });
    if (result.rewind === undefined) return this.#stand(result, reserve?.messageId);
    if (this.#rewinds.open) return;
    this.#rewinds.refused(result.rewind.from, result.rewind.reason);
    this.#send({ type: "rewind", ...result.rewind });
  }

  /** Steps are on disk, and what was reserved behind them. */
  #stand({ reserved, through }: Extract<Advanced, { through: number }>, messageId: number | undefined): void {
    if (messageId === undefined || reserved === undefined) return this.#send({ type: "ack", through });
    if (!("refused" in reserved)) return this.#reserved(messageId, reserved, through);
    this.#send({ type: "ack", through }, refusedEffect(messageId, reserved.refused));
  }

  #reserved(messageId: number, reserved: ReserveResult, through?: number): void {
    this.#contents.offer(reserved.resultRef);
    this.#send({ type: "effect.reserved", messageId, ...(through === undefined ? {} : { through }), ...reserved });
    if (reserved.state === "ambiguous") this.#finish("parked");
  }

  /** A refused proposal: the runner is told, with the reason, and the claim decides what becomes of it. */
  #failed(frame: FromRunner, thrown: unknown): void {
    const { log } = this.#deps;
    const error = asHoldpointError(thrown);
    const run = this.claimed.claim.runId;
    if (error.kind === "claimLost") {
      this.#send({ type: "claimLost" });
      return this.#finish("claimLost");
    }
    const missing = error.kind === "contentInvalid" && this.#contents.unwritten;
    if (frame.type === "advance" && (missing || isUnwritten(error))) {
      log.error({ run, code: error.code, message: error.message }, "steps not written; the runner goes back");
      return void this.#rewindLater();
    }
    if (frame.type === "effect.reserve") {
      log.warn({ run, frame: frame.type, code: error.code, message: error.message }, "effect refused");
      return this.#send(refusedEffect(frame.messageId, toErrorRecord(error)));
    }
    if ("messageId" in frame) {
      // Updates are refused by the dozen when somebody publishes too often; nothing follows from it.
      const level = frame.type === "update" ? "debug" : "warn";
      log[level]({ run, frame: frame.type, code: error.code, message: error.message }, "proposal refused");
      return this.#send({ type: "reply", messageId: frame.messageId, ok: false, error: toErrorRecord(error) });
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
    if (this.#rewinds.open) return;
    this.#rewinds.begin();
    await pause(this.#deps.clock, STORAGE_RETRY_MS, () => this.end !== "open");
    // The steps of an action, which are repeated until they are stored, come before those that are taken back.
    await this.#settling;
    const here = this.#deps.store.read.runs.position(this.claimed.claim.runNo);
    if (here === null || this.end !== "open") return;
    this.#rewinds.told(here.from);
    this.#send({ type: "rewind", reason: "notWritten", ...here });
  }

  #stopFor(end: SessionEnd): void {
    this.#send({ type: "stop", reason: this.error?.message ?? "refused" });
    this.#finish(end);
  }
}
