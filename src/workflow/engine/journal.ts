/**
 * What a run has done so far, as the engine sees it, with the way back: steps that the host has not acknowledged can be
 * taken back when it refuses them.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import type { NodeResult, Position } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { CompiledWorkflow } from "../compile.ts";
import type { ExecutedStep } from "../context.ts";
import { applyTransitions, mountsAfter, type MountMarks } from "../rules/mounts.ts";
import type { PlannedTransition } from "../rules/graph.ts";
import type { ResumeState } from "./host.ts";
import { exitResult, newScope, restoreScopes, type RunScope } from "./scopes.ts";
import { deepFreeze } from "./values.ts";

type Results = Map<string, NodeResult>;

/** What was before a step. */
interface Undo {
  readonly scope: RunScope;
  readonly marks: MountMarks;
  /** The node's entry in the scope's results. */
  readonly key: string;
  readonly before: NodeResult | undefined;
  /** Entries that mounts on the way changed. */
  more: { readonly results: Results; readonly key: string; readonly before: NodeResult | undefined }[] | undefined;
}

export class RunJournal {
  readonly steps: ExecutedStep[] = [];
  position: Position;
  /** Where the position lies. */
  scope: RunScope;
  /** The latest invocation of each mount. */
  marks: MountMarks;
  readonly #workflow: CompiledWorkflow;
  readonly #visits = new Map<string, number>();
  /** For the last steps, oldest first: those that were not acknowledged. */
  readonly #undo: Undo[] = [];
  /** Steps whose undo was dropped are final. */
  #acknowledged: number;

  constructor(workflow: CompiledWorkflow, input: JsonValue, from: ResumeState) {
    this.#workflow = workflow;
    for (const step of from.steps) this.steps.push(Object.freeze({ ...step }));
    if (this.steps.length !== from.position.step) {
      const [seen, step] = [this.steps.length, from.position.step];
      throw new HoldpointError(
        "protocolRejected",
        `The run is to go on at step ${step}, but ${seen} steps were handed over.`,
      );
    }
    const node = workflow.nodes.get(from.position.nodeId);
    if (node === undefined) {
      throw new HoldpointError("protocolRejected", `The workflow has no node "${from.position.nodeId}" to go on with.`);
    }
    this.#acknowledged = this.steps.length;
    this.position = from.position;
    this.marks = mountsAfter(workflow.snapshot, this.steps, from.position.nodeId);
    const { mounts = [], results } = from;
    this.scope = restoreScopes(workflow, deepFreeze(input), node.scope, {
      marks: this.marks,
      results,
      steps: this.steps,
      mounts,
    });
    this.#moveTo(from.position, from.visits);
  }

  /** Records the step at the present position and moves to `next`. Mounts on the way follow with `leave` and `enter`. */
  record(localId: string, result: NodeResult, next: string): void {
    const { nodeId, outcome } = result;
    const { marks, scope } = this;
    this.#undo.push({ scope, marks, key: localId, before: scope.results.get(localId), more: undefined });
    scope.results.set(localId, result);
    this.steps.push(Object.freeze({ nodeId, outcome }));
    const visit = (this.#visits.get(next) ?? 0) + 1;
    this.#visits.set(next, visit);
    this.position = { nodeId: next, step: this.steps.length, visit, interrupted: false };
  }

  /** Leaves the present mount after the recorded step, whose output is the exit's value. */
  leave({ exit, mount }: Extract<PlannedTransition, { type: "include_exited" }>, output: JsonValue): RunScope {
    const left = this.scope;
    const parent = left.parent;
    if (parent === undefined || left.compiled.mount !== mount) throw new Error(`the run is not in mount ${mount}`);
    this.marks = applyTransitions(this.marks, [{ type: "include_exited", mount, exit }], this.steps.length);
    this.#change(parent.results, left.compiled.name, exitResult(mount, exit, output));
    this.scope = parent;
    return left;
  }

  /** Enters a mount below the present scope. Its input is to be made by the caller, before the parent forgets its last exit. */
  enter(mount: string, input: RunScope["input"]): RunScope {
    const compiled = this.#workflow.scopes.get(mount);
    if (compiled === undefined) throw new Error(`there is no mount ${mount}`);
    this.marks = applyTransitions(this.marks, [{ type: "include_entered", mount }], this.steps.length);
    this.#change(this.scope.results, compiled.name, undefined);
    const mark = this.marks.get(mount) ?? { invocation: 1, firstStep: this.steps.length };
    this.scope = newScope(compiled, this.scope, mark, input);
    return this.scope;
  }

  /** Every step up to and including `through` is durable and final. */
  acknowledge(through: number): void {
    const count = through + 1 - this.#acknowledged;
    if (count <= 0) return;
    if (count > this.#undo.length) {
      const message = `Step ${through} was acknowledged, but only ${this.steps.length} steps were done.`;
      throw new HoldpointError("protocolRejected", message);
    }
    this.#undo.splice(0, count);
    this.#acknowledged += count;
  }

  /** Takes back everything from step `from` on and goes to `position`. */
  rewind(from: number, position: Position, visits: Readonly<Record<string, number>>): void {
    if (from < this.#acknowledged || from > this.steps.length || position.step !== from) {
      const message = `Rewind to step ${from} (position ${position.step}), but steps ${this.#acknowledged} to ${this.steps.length} are open.`;
      throw new HoldpointError("protocolRejected", message);
    }
    while (this.steps.length > from) {
      this.steps.pop();
      const undo = this.#undo.pop();
      if (undo === undefined) break;
      for (const { before, key, results } of undo.more?.reverse() ?? []) put(results, key, before);
      put(undo.scope.results, undo.key, undo.before);
      this.scope = undo.scope;
      this.marks = undo.marks;
    }
    this.#moveTo(position, visits);
  }

  #change(results: Results, key: string, value: NodeResult | undefined): void {
    const undo = this.#undo.at(-1);
    // Before the first step there is nothing to go back to.
    if (undo !== undefined) (undo.more ??= []).push({ results, key, before: results.get(key) });
    put(results, key, value);
  }

  #moveTo(position: Position, visits: Readonly<Record<string, number>>): void {
    this.#visits.clear();
    for (const [nodeId, count] of Object.entries(visits)) this.#visits.set(nodeId, count);
    this.#visits.set(position.nodeId, position.visit);
    this.position = position;
  }
}

function put(results: Results, key: string, value: NodeResult | undefined): void {
  if (value === undefined) results.delete(key);
  else results.set(key, value);
}
