// An EngineHost in memory: records what the engine says, acknowledges when told to, and plays the server's part for
// effects and decisions. Everything happens in the order in which the engine asks.
import type { StepEntry } from "../../src/contracts/protocol/runner.ts";
import type { JsonValue } from "../../src/contracts/protocol/shared.ts";
import {
  Engine,
  type DecisionAsked,
  type EffectRequest,
  type EffectReservation,
  type EffectSettlement,
  type EngineEnd,
  type EngineHost,
  type EngineOptions,
} from "../../src/workflow/engine/index.ts";
import type { WorkflowDefinition } from "../../src/workflow/index.ts";
import type { RunEnd } from "../../src/workflow/rules/index.ts";

export class MemoryHost implements EngineHost {
  engine: Engine | undefined;
  readonly entries: StepEntry[] = [];
  /** One word per call, in order: `advance:plan`, `barrier`, `reserve:deploy`, … */
  readonly calls: string[] = [];
  readonly effects: EffectRequest[] = [];
  readonly settlements: EffectSettlement[] = [];
  readonly decisions: DecisionAsked[] = [];
  end: RunEnd | undefined;
  /** Answers to decisions, first to last; when none is left the run parks. */
  answers: JsonValue[] = [];
  reservation: (request: EffectRequest) => Partial<EffectReservation> = () => ({});
  /** What a barrier waits for. */
  durable: () => Promise<void> = async () => {};
  /** When false, steps stay open until somebody acknowledges. */
  acknowledges = true;

  advance(entry: StepEntry): void {
    this.calls.push(`advance:${entry.nodeId}`);
    this.entries.push(entry);
    if (this.acknowledges) this.engine?.acknowledge(entry.step);
  }

  async barrier(): Promise<void> {
    this.calls.push("barrier");
    await this.durable();
  }

  async reserveEffect(request: EffectRequest): Promise<EffectReservation> {
    this.calls.push(`reserve:${request.nodeId}`);
    this.effects.push(request);
    const key = `run/${request.effectType}/${request.nodeId}/${request.visit}`;
    return { effectId: `effect-${key}`, key, attempt: 1, state: "fresh", ...this.reservation(request) };
  }

  async settleEffect(settlement: EffectSettlement): Promise<{ attempt: number }> {
    this.calls.push(`settle:${settlement.outcome}`);
    this.settlements.push(settlement);
    return { attempt: settlement.attempt + 1 };
  }

  async requestDecision(asked: DecisionAsked): Promise<{ kind: "parked" } | { kind: "answered"; output: JsonValue }> {
    this.calls.push(`decision:${asked.nodeId}`);
    this.decisions.push(asked);
    const output = this.answers.shift();
    return output === undefined ? { kind: "parked" } : { kind: "answered", output };
  }

  async finish(entry: StepEntry, end: RunEnd): Promise<void> {
    this.calls.push(`finish:${entry.nodeId}`);
    this.entries.push(entry);
    this.end = end;
  }

  yield(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** The nodes in the order in which they ran. */
  get order(): string {
    return this.entries.map((entry) => entry.nodeId).join(" ");
  }
}

/** An engine over a memory host, not yet running. */
export function engineOver(
  definition: WorkflowDefinition,
  host: MemoryHost,
  options: Partial<EngineOptions> = {},
): Engine {
  const engine = new Engine({ definition, input: null, host, ...options });
  host.engine = engine;
  return engine;
}

/** Runs a definition to the end of its execution. */
export async function execute(
  definition: WorkflowDefinition,
  options: Partial<EngineOptions> & { host?: MemoryHost } = {},
): Promise<{ end: EngineEnd; host: MemoryHost }> {
  const { host = new MemoryHost(), ...rest } = options;
  return { end: await engineOver(definition, host, rest).run(), host };
}
