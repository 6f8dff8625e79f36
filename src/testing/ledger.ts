/** What is durable of a run in memory: everything that a server would have on disk when the process dies. */
import type { DefinitionSnapshot } from "../contracts/definition.ts";
import type { ErrorRecord } from "../contracts/errors.ts";
import { HoldpointError } from "../contracts/errors.ts";
import type { IncludeTransition, MountState } from "../contracts/include.ts";
import type { NodeResult, Position, StepEntry } from "../contracts/protocol/runner.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import type { SettingsVersion } from "../contracts/settings.ts";
import type { UpdateEnvelope, UpdateReceipt } from "../contracts/update.ts";
import type { EffectRequest, NotificationAsked, ResumeState } from "../workflow/engine/index.ts";
import {
  afterStep,
  applyTransitions,
  fullBucket,
  mountsAtStart,
  type MountMarks,
  type RunEnd,
  type TokenBucket,
} from "../workflow/rules/index.ts";

export type EffectState = "applying" | "applied" | "rejected" | "ambiguous" | "pending";

/** One effect of a run. */
export interface TestEffect extends EffectRequest {
  readonly effectId: string;
  readonly key: string;
  state: EffectState;
  attempts: number;
  result?: JsonValue | undefined;
  error?: ErrorRecord | undefined;
}

export interface TestEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

export class Ledger {
  readonly definition: DefinitionSnapshot;
  readonly steps: StepEntry[] = [];
  readonly results = new Map<string, NodeResult>();
  readonly effects = new Map<string, TestEffect>();
  readonly notifications: (NotificationAsked & { readonly index: number })[] = [];
  readonly updates: (UpdateReceipt & UpdateEnvelope & { readonly nodeId: string })[] = [];
  /** Newest update of each type and key. */
  readonly current = new Map<string, UpdateEnvelope>();
  readonly settings = new Map<string, SettingsVersion>();
  readonly inputs = new Map<string, JsonValue>();
  readonly events: TestEvent[] = [];
  bucket: TokenBucket;
  marks: MountMarks;
  /** Null once the run has ended. */
  position: Position | null;
  readonly #visits = new Map<string, number>();

  constructor(definition: DefinitionSnapshot, now: number) {
    this.definition = definition;
    this.bucket = fullBucket(now);
    this.marks = mountsAtStart(definition);
    this.position = { nodeId: definition.startAt, step: 0, visit: 1, interrupted: false };
    this.#visits.set(definition.startAt, 1);
  }

  get visits(): Record<string, number> {
    return Object.fromEntries(this.#visits);
  }

  /** Stores a step after computing its route anew, as a server does; the proposer must agree. */
  record(entry: StepEntry): void {
    const { error, nodeId, outcome, output, step } = entry;
    if (this.position === null || nodeId !== this.position.nodeId || step !== this.position.step) {
      throw new HoldpointError("internal", `Step ${step} of node "${nodeId}" is not the next one of the run.`);
    }
    const result: NodeResult = {
      nodeId,
      outcome,
      ...(output === undefined ? {} : { output }),
      ...(error === undefined ? {} : { error }),
    };
    const after = afterStep(this.definition, result, step + 1, this.marks);
    const next = after.kind === "next" ? after.nodeId : null;
    if (next !== entry.next) {
      throw new HoldpointError(
        "internal",
        `After node "${nodeId}" the engine goes to ${entry.next}, the rules to ${next}.`,
      );
    }
    this.steps.push(entry);
    this.results.set(nodeId, result);
    this.events.push({ type: "node_finished", nodeId, step, outcome });
    this.marks = applyTransitions(this.marks, after.transitions, step + 1);
    for (const transition of entry.transitions ?? []) this.entered(transition);
    if (next === null) {
      this.position = null;
      return;
    }
    const visit = (this.#visits.get(next) ?? 0) + 1;
    this.#visits.set(next, visit);
    this.position = { nodeId: next, step: step + 1, visit, interrupted: false };
  }

  /** Stores an answer as the output of the node that waits; returns the end of the run if it is one. */
  answer(output: JsonValue): RunEnd | undefined {
    const { position } = this;
    if (position === null) throw new Error("the run has ended");
    const { nodeId, step } = position;
    const after = afterStep(this.definition, { nodeId, outcome: "ok", output }, step + 1, this.marks);
    const next = after.kind === "next" ? after.nodeId : null;
    let { marks } = this;
    const transitions = (after.transitions ?? []).map((planned): IncludeTransition => {
      const { mount } = planned;
      marks = applyTransitions(marks, [planned], step + 1);
      const base = {
        mount,
        workflow: this.definition.includes?.[mount]?.workflow ?? "",
        invocation: marks.get(mount)?.invocation ?? 1,
      };
      return planned.type === "include_entered"
        ? { type: planned.type, ...base }
        : { type: planned.type, ...base, exit: planned.exit, output };
    });
    this.record({ step, nodeId, outcome: "ok", output, durationMs: 0, next, transitions });
    return after.kind === "end" ? after : undefined;
  }

  /** A mount was entered or left. */
  entered(transition: IncludeTransition): void {
    this.events.push({ ...transition });
    if (transition.type === "include_entered" && transition.input !== undefined) {
      this.inputs.set(`${transition.mount} ${transition.invocation}`, transition.input);
    }
  }

  /** How an engine goes on from here. */
  resume(interrupted: boolean): ResumeState {
    if (this.position === null) throw new Error("the run has ended");
    const mounts: MountState[] = [...this.marks.values()].map((mark) => {
      const input = this.inputs.get(`${mark.mount} ${mark.invocation}`);
      const { exit, ...rest } = mark;
      return { ...rest, ...(exit === undefined ? {} : { exit }), ...(input === undefined ? {} : { input }) };
    });
    return structuredClone({
      position: { ...this.position, interrupted },
      visits: this.visits,
      results: [...this.results.values()],
      steps: this.steps.map(({ nodeId, outcome }) => ({ nodeId, outcome })),
      mounts,
    });
  }
}
