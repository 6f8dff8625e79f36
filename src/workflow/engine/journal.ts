/**
 * What a run has done so far, as the engine sees it, with the way back: steps that the host has not acknowledged can be
 * taken back when it refuses them.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import type { NodeResult, Position } from "../../contracts/protocol/runner.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ExecutedStep } from "../context.ts";
import type { RunMemory } from "./attempt.ts";
import type { ResumeState } from "./host.ts";
import { deepFreeze } from "./values.ts";

/** What was before a step: the earlier result of its node. */
interface Undo {
  readonly nodeId: string;
  readonly before: NodeResult | undefined;
}

export class RunJournal implements RunMemory {
  readonly input: JsonValue;
  readonly results = new Map<string, NodeResult>();
  readonly steps: ExecutedStep[] = [];
  position: Position;
  readonly #visits = new Map<string, number>();
  /** For the last steps, oldest first: those that were not acknowledged. */
  readonly #undo: Undo[] = [];
  /** Steps whose undo was dropped are final. */
  #acknowledged: number;

  constructor(input: JsonValue, from: ResumeState) {
    this.input = deepFreeze(input);
    for (const result of from.results) this.results.set(result.nodeId, deepFreeze(result as never) as NodeResult);
    for (const step of from.steps) this.steps.push(Object.freeze({ ...step }));
    if (this.steps.length !== from.position.step) {
      const [seen, step] = [this.steps.length, from.position.step];
      throw new HoldpointError(
        "protocolRejected",
        `The run is to go on at step ${step}, but ${seen} steps were handed over.`,
      );
    }
    this.#acknowledged = this.steps.length;
    this.position = from.position;
    this.#moveTo(from.position, from.visits);
  }

  /** Records the step at the present position and moves to `next`. */
  record(result: NodeResult, next: string): void {
    const { nodeId, outcome } = result;
    this.#undo.push({ nodeId, before: this.results.get(nodeId) });
    this.results.set(nodeId, result);
    this.steps.push(Object.freeze({ nodeId, outcome }));
    const visit = (this.#visits.get(next) ?? 0) + 1;
    this.#visits.set(next, visit);
    this.position = { nodeId: next, step: this.steps.length, visit, interrupted: false };
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
      if (undo.before === undefined) this.results.delete(undo.nodeId);
      else this.results.set(undo.nodeId, undo.before);
    }
    this.#moveTo(position, visits);
  }

  #moveTo(position: Position, visits: Readonly<Record<string, number>>): void {
    this.#visits.clear();
    for (const [nodeId, count] of Object.entries(visits)) this.#visits.set(nodeId, count);
    this.#visits.set(position.nodeId, position.visit);
    this.position = position;
  }
}
