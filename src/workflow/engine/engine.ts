/**
 * The pure engine: executes the nodes of one run in order over an EngineHost. It knows no file, no pipe and no hour, and
 * works in memory as well as in a runner.
 *
 * Pure steps go ahead of their commit as far as the host lets them; whatever has a consequence outside first waits for
 * the host's barrier. Refused steps are taken back and done again.
 */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { ADVANCE } from "../../contracts/limits.ts";
import type { NodeResult, Position, StepEntry } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { snapshotOf, type WorkflowDefinition } from "../definition.ts";
import type { WorkflowNode } from "../nodes.ts";
import { afterStep } from "../rules/after-step.ts";
import { Attempt } from "./attempt.ts";
import type { EngineEnd, EngineHost, ResumeState } from "./host.ts";
import { RunJournal } from "./journal.ts";
import { performAction } from "./perform-action.ts";
import { performCompute, performDecision } from "./perform.ts";
import type { Performance, Performed } from "./performed.ts";
import { processTimers, type EngineTimers } from "./timers.ts";

export interface EngineOptions {
  readonly definition: WorkflowDefinition;
  /** Its snapshot, if the caller has it already. */
  readonly snapshot?: DefinitionSnapshot;
  /** As the workflow's parser made it. */
  readonly input: JsonValue;
  readonly host: EngineHost;
  /** Left out: a run from its start. */
  readonly resume?: ResumeState;
  readonly timers?: EngineTimers;
}

/** What a wait is rejected with when its step was taken back or the run stopped. */
const INTERRUPTED = Symbol("interrupted");

/** Other work of the process may have to wait this long. */
const TURN_MS = 8;

/** Room for the envelope of an entry in the count of unacknowledged bytes. */
const ENTRY_BYTES = 128;

export class Engine {
  readonly #nodes: Readonly<Record<string, WorkflowNode>>;
  readonly #snapshot: DefinitionSnapshot;
  readonly #host: EngineHost;
  readonly #timers: EngineTimers;
  readonly #journal: RunJournal;
  /** Rises whenever what is being executed no longer counts. */
  #epoch = 0;
  #stopped: string | undefined;
  #attempt: Attempt | undefined;
  readonly #waiting = new Set<(reason: unknown) => void>();

  constructor(options: EngineOptions) {
    const { definition, host, input, resume, snapshot, timers = processTimers } = options;
    this.#nodes = definition.nodes;
    this.#snapshot = snapshot ?? snapshotOf(definition);
    this.#host = host;
    this.#timers = timers;
    this.#journal = new RunJournal(input, resume ?? fromStart(definition.startAt));
  }

  /** Where the execution is. */
  get position(): Position {
    return this.#journal.position;
  }

  /** Every step up to and including `through` is durable; they cannot be taken back any more. */
  acknowledge(through: number): void {
    this.#journal.acknowledge(through);
  }

  /** Takes back every step from `from` on, whatever is being executed included, and goes on at `position`. */
  rewind(from: number, position: Position, visits: Readonly<Record<string, number>>): void {
    this.#journal.rewind(from, position, visits);
    this.#interrupt(`Taken back to step ${from}.`);
  }

  /** Aborts the node that is being executed; nothing more is reported. */
  stop(reason: string): void {
    this.#stopped ??= reason;
    this.#interrupt(reason);
  }

  /** Executes until the run ends, parks, or is stopped. Call once. Rejects with what the host rejected with. */
  async run(): Promise<EngineEnd> {
    let turnBegan = this.#timers.now();
    let turnSteps = 0;
    while (this.#stopped === undefined) {
      const epoch = this.#epoch;
      try {
        const began = this.#timers.now();
        if (turnSteps >= ADVANCE.entriesPerFrame || began - turnBegan > TURN_MS) {
          await this.#wait(epoch, this.#host.yield());
          turnBegan = this.#timers.now();
          turnSteps = 0;
          continue;
        }
        turnSteps++;
        let performed = this.#perform();
        if (performed instanceof Promise) performed = await performed;
        // A step that was taken back while its function went on to its end.
        if (epoch !== this.#epoch) continue;
        if (performed.kind === "parked") return performed;

        const { bytes, entry, result } = stepOf(this.#journal.position, performed, this.#timers.now() - began);
        const after = afterStep(this.#snapshot, result, entry.step + 1);
        if (after.kind === "end") {
          await this.#wait(epoch, this.#host.barrier());
          await this.#wait(epoch, this.#host.finish(entry, after));
          return { kind: "finished", end: after, output: after.status === "completed" ? result.output : undefined };
        }
        this.#journal.record(result, after.nodeId);
        const room = this.#host.advance({ ...entry, next: after.nodeId }, bytes + ENTRY_BYTES);
        if (room !== undefined) await this.#wait(epoch, room);
      } catch (error) {
        if (error !== INTERRUPTED) throw error;
      }
    }
    return { kind: "stopped", reason: this.#stopped };
  }

  #perform(): Performed | Promise<Performed> {
    const { position } = this.#journal;
    const node = Object.hasOwn(this.#nodes, position.nodeId) ? this.#nodes[position.nodeId] : undefined;
    if (node === undefined) {
      throw new HoldpointError("protocolRejected", `The workflow has no node "${position.nodeId}" to go on with.`);
    }
    const epoch = this.#epoch;
    const wait = <T>(promise: Promise<T>): Promise<T> => this.#wait(epoch, promise);
    const renew = (): Attempt => (this.#attempt = new Attempt(position.nodeId, this.#journal, this.#timers));
    const performance: Performance = { attempt: renew(), position, host: this.#host, renew, wait };
    switch (node.type) {
      case "compute":
        return performCompute(node, performance);
      case "action":
        return performAction(node, performance);
      case "humanDecision":
        return performDecision(node, performance);
    }
  }

  /** Waits, but not beyond a rewind or stop: what began in an earlier epoch gets no answer any more. */
  async #wait<T>(epoch: number, promise: Promise<T>): Promise<T> {
    let interrupt: ((reason: unknown) => void) | undefined;
    // Made anew for each wait: one long-lived promise would gather a reaction for every step of the run.
    const interrupted = new Promise<never>((_resolve, reject) => this.#waiting.add((interrupt = reject)));
    if (epoch !== this.#epoch) interrupt?.(INTERRUPTED);
    try {
      const value = await Promise.race([interrupted, promise]);
      // The answer and the interruption can come in one turn.
      if (epoch !== this.#epoch) throw INTERRUPTED;
      return value;
    } finally {
      if (interrupt !== undefined) this.#waiting.delete(interrupt);
    }
  }

  #interrupt(reason: string): void {
    this.#epoch++;
    this.#attempt?.abort(new HoldpointError("runState", reason));
    for (const reject of this.#waiting) reject(INTERRUPTED);
    this.#waiting.clear();
  }
}

function fromStart(startAt: string): ResumeState {
  const position = { nodeId: startAt, step: 0, visit: 1, interrupted: false };
  return { position, visits: {}, results: [], steps: [] };
}

function stepOf(
  { nodeId, step }: Position,
  performed: Exclude<Performed, { kind: "parked" }>,
  elapsed: number,
): { result: NodeResult; entry: StepEntry; bytes: number } {
  const durationMs = Math.max(0, Math.round(elapsed * 1_000) / 1_000);
  if (performed.kind === "ok") {
    const { bytes, output } = performed;
    const result: NodeResult = Object.freeze({ nodeId, outcome: "ok", output });
    return { result, entry: { step, nodeId, outcome: "ok", output, durationMs, next: null }, bytes };
  }
  const { error, kind: outcome } = performed;
  const result: NodeResult = Object.freeze({
    nodeId,
    outcome,
    error: Object.freeze(error) as NodeResult["error"] & object,
  });
  // Errors are bounded, but counted as if they were as large as they may be.
  return { result, entry: { step, nodeId, outcome, error: result.error, durationMs, next: null }, bytes: 16_384 };
}
