/** How an action is executed: its effect is reserved, done or looked at, and settled. */
import { isA, messageOf, type ErrorRecord } from "../../contracts/errors.ts";
import { WORKFLOW } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ActionContext } from "../context.ts";
import { timeoutOf } from "../definition.ts";
import { isOutcomeUnknown, type EffectContract, type Observation } from "../effects.ts";
import type { ActionNode } from "../nodes.ts";
import type { Attempt } from "./attempt.ts";
import { failureOf, timedOut } from "./failures.ts";
import type { EffectReservation } from "./host.ts";
import { CommandTimedOut, meanwhile } from "./meanwhile.ts";
import { describe, failing, outputOf, type Performance, type Performed } from "./performed.ts";
import { toJson } from "./values.ts";

/** Actions: nothing happens outside before its effect is reserved durably. */
export function performAction(node: ActionNode, performance: Performance): Promise<Performed> {
  const { host, position, wait } = performance;
  const { nodeId, step, visit } = position;
  const { effect } = node;
  return failing(nodeId, async () => {
    const described: unknown = await describe(performance, node.request ?? { node: nodeId }, WORKFLOW.nodeTimeoutMs);
    const request = toJson(described, `The effect request of node "${nodeId}"`).value;
    if (host.settlesWithSteps !== true) await wait(host.barrier());
    const asked = { step, nodeId, visit, effectType: effect.type, recovery: effect.recovery, request };
    return reserved(node, performance, await wait(host.reserveEffect(asked)));
  });
}

/** Goes on from what is known of the effect. */
function reserved(
  node: ActionNode,
  performance: Performance,
  reservation: EffectReservation,
): Performed | Promise<Performed> {
  const { host, position } = performance;
  const { nodeId } = position;
  switch (reservation.state) {
    case "applied":
      // A result that could not be stored failed the node; repeating the step must come to the same.
      if (reservation.error !== undefined) return { kind: "failed", error: reservation.error };
      return outputOf({ kind: "returned", value: reservation.result }, nodeId, host.valueBytes);
    case "rejected":
      return rejected(reservation.error ?? failureOf(new Error("The effect was rejected."), nodeId));
    case "ambiguous":
      return { kind: "parked", reason: "effectAmbiguous" };
    case "observe":
      return new ActionRun(node, performance, reservation).look();
    case "fresh":
    case "repeat":
      return new ActionRun(node, performance, reservation).act();
  }
}

/** What the node came to when its effect was settled; a node that ran out of time is told by its error. */
function rejected(error: ErrorRecord): Performed {
  return { kind: error.kind === "nodeTimedOut" ? "timed_out" : "failed", error };
}

/** One reserved effect on its way to its settlement. */
class ActionRun {
  readonly #node: ActionNode;
  readonly #performance: Performance;
  readonly #effectId: string;
  readonly #key: string;
  #attempt: Attempt;
  #number: number;

  constructor(node: ActionNode, performance: Performance, reservation: EffectReservation) {
    this.#node = node;
    this.#performance = performance;
    this.#effectId = reservation.effectId;
    this.#key = reservation.key;
    this.#attempt = performance.attempt;
    this.#number = reservation.attempt;
  }

  async act(): Promise<Performed> {
    const { position, wait } = this.#performance;
    const limit = timeoutOf(this.#node);
    const called = await wait(Promise.resolve(this.#attempt.call(() => this.#node.run(this.#context()), limit)));
    if (called.kind === "returned") return this.#applied(called.value);
    // Whatever it left running is gone before anything is said about the effect.
    await this.#closed();
    const late = called.kind === "timedOut" || isA(called.error, CommandTimedOut);
    const error =
      called.kind === "timedOut"
        ? timedOut(position.nodeId, called.timeoutMs).toRecord()
        : failureOf(isA(called.error, CommandTimedOut) ? called.error.error : called.error, position.nodeId);
    const failure = { kind: late ? "timed_out" : "failed", error } as const;
    const { recovery } = this.#node.effect;
    if (recovery === "observed") return this.#lookAfter(failure);
    // Whoever ran out of time may still be at it; only where a repetition does no harm is that no reason to ask.
    const unknown = called.kind === "threw" && isOutcomeUnknown(called.error);
    const doubt = unknown || (late && !isUndeclared(this.#node.effect));
    if (doubt && recovery === "manual") return this.#inDoubt(error);
    return this.#end("rejected", failure);
  }

  /** After an interruption: look, and act only when it is known that nothing happened. */
  async look(): Promise<Performed> {
    const seen = await this.#observe();
    if (seen.applied === true) return this.#applied(seen.output);
    if (seen.applied === "unknown") return this.#inDoubt(this.#because(seen.reason));
    this.#number = (await this.#settle("notApplied", {})).attempt;
    return this.act();
  }

  async #lookAfter(failure: Extract<Performed, { error: ErrorRecord }>): Promise<Performed> {
    // The signal of the attempt that failed may be aborted.
    this.#attempt = this.#performance.renew();
    const seen = await this.#observe();
    if (seen.applied === true) return this.#applied(seen.output);
    const { error } = failure;
    if (seen.applied === "unknown") return this.#inDoubt(this.#because(`${error.message} ${seen.reason ?? ""}`.trim()));
    return this.#end("rejected", failure);
  }

  async #observe(): Promise<Observation> {
    const { effect } = this.#node;
    if (effect.recovery !== "observed") return { applied: "unknown", reason: "The effect has no way to look." };
    const looking = this.#attempt.call(() => effect.observe(this.#context()), WORKFLOW.nodeTimeoutMs);
    const called = await this.#performance.wait(Promise.resolve(looking));
    if (called.kind === "timedOut") return { applied: "unknown", reason: "Looking took too long." };
    if (called.kind === "threw") return { applied: "unknown", reason: `Looking failed: ${messageOf(called.error)}` };
    try {
      const { applied, output, reason } = (called.value ?? {}) as {
        applied?: unknown;
        output?: unknown;
        reason?: string;
      };
      if (applied === true) return { applied, output };
      return applied === false ? { applied } : { applied: "unknown", reason: reason ?? "Looking did not tell." };
    } catch (error) {
      return { applied: "unknown", reason: `What was seen cannot be read: ${messageOf(error)}` };
    }
  }

  #because(reason = "Looking did not tell."): ErrorRecord {
    return failureOf(new Error(reason), this.#performance.position.nodeId);
  }

  /** A person must say what happened; the run is parked until then. */
  async #inDoubt(error: ErrorRecord): Promise<Performed> {
    await this.#settle("ambiguous", { error });
    return { kind: "parked", reason: "effectAmbiguous" };
  }

  async #applied(value: unknown): Promise<Performed> {
    await this.#closed();
    const { host, position } = this.#performance;
    const done = outputOf({ kind: "returned", value }, position.nodeId, host.valueBytes);
    return this.#end("applied", done);
  }

  /** Says what became of the effect: with the step where that may be, else at once. */
  async #end(outcome: "applied" | "rejected", done: Performed): Promise<Performed> {
    if (done.kind === "parked") return done;
    if (this.#performance.maySettleWithStep(done))
      return { ...done, settlement: { effectId: this.#effectId, attempt: this.#number, outcome } };
    await this.#settle(outcome, done.kind === "ok" ? { result: done.output } : { error: done.error });
    return done;
  }

  #settle(
    outcome: "applied" | "rejected" | "notApplied" | "ambiguous",
    more: { result?: JsonValue; error?: ErrorRecord },
  ): Promise<{ attempt: number }> {
    const { host, wait } = this.#performance;
    return wait(host.settleEffect({ effectId: this.#effectId, attempt: this.#number, outcome, ...more }));
  }

  async #closed(): Promise<void> {
    const closing = this.#attempt.close();
    if (closing !== undefined) await this.#performance.wait(closing);
  }

  #context(): ActionContext {
    const attempt = this.#attempt;
    const effect = Object.freeze({ key: this.#key, attempt: this.#number, idempotencyKey: this.#effectId });
    const { publishUpdate, runCommand } = meanwhile(attempt, this.#performance);
    // Copies the getters, not the values, so that views are still made only when looked at.
    const own = { effect, publishUpdate, runCommand };
    return Object.defineProperties(own, Object.getOwnPropertyDescriptors(attempt.context)) as unknown as ActionContext;
  }
}

function isUndeclared(effect: EffectContract): boolean {
  return effect.recovery === "manual" && effect.undeclared === true;
}
