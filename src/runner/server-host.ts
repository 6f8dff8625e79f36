/** The engine's host in a runner: every request becomes a frame to the server, every answer a resolved promise. */
import { fromErrorRecord, HoldpointError } from "../contracts/errors.ts";
import type { FromRunner, StepEntry, ToRunner } from "../contracts/protocol/runner.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import type {
  DecisionAsked,
  EffectRequest,
  EffectReservation,
  EffectSettlement,
  EngineHost,
} from "../workflow/engine/index.ts";
import { StepStream } from "./stream.ts";

type Reply = Extract<ToRunner, { type: "reply" | "effect.reserved" }>;
/** `Omit` over each member, so that the union stays one. */
type Unnumbered<T> = T extends { messageId: number } ? Omit<T, "messageId"> : never;

export class ServerHost implements EngineHost {
  readonly #send: (frame: FromRunner) => void;
  readonly #stream: StepStream;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #messages = 0;

  constructor(send: (frame: FromRunner) => void) {
    this.#send = send;
    this.#stream = new StepStream((first, entries) => send({ type: "advance", first, entries }));
  }

  /** Hands a reply to whoever asked; false if nobody did. */
  answer(reply: Reply): boolean {
    const waiting = this.#waiting.get(reply.messageId);
    if (waiting === undefined) return false;
    this.#waiting.delete(reply.messageId);
    waiting(reply);
    return true;
  }

  acknowledge(through: number): void {
    this.#stream.acknowledge(through);
  }

  rewind(from: number): void {
    this.#stream.rewind(from);
  }

  advance(entry: StepEntry, bytes: number): void | Promise<void> {
    return this.#stream.push(entry, bytes);
  }

  barrier(): Promise<void> {
    return this.#stream.barrier();
  }

  yield(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  async reserveEffect({ effectType, nodeId, recovery, request, step }: EffectRequest): Promise<EffectReservation> {
    const reply = await this.#ask({ type: "effect.reserve", step, nodeId, effectType, recovery, request });
    if (reply.type !== "effect.reserved") throw refusal(reply);
    return reply;
  }

  async settleEffect(settlement: EffectSettlement): Promise<{ attempt: number }> {
    const result = accepted(await this.#ask({ type: "effect.settle", ...settlement }));
    const attempt = (result as { attempt?: unknown } | null | undefined)?.attempt;
    return { attempt: typeof attempt === "number" ? attempt : settlement.attempt + 1 };
  }

  async requestDecision({ nodeId, request, step }: DecisionAsked): Promise<{ kind: "parked" }> {
    accepted(await this.#ask({ type: "decision", step, nodeId, request }));
    return { kind: "parked" };
  }

  async finish(entry: StepEntry): Promise<void> {
    accepted(await this.#ask({ type: "finish", entry }));
  }

  #ask(frame: Unnumbered<FromRunner>): Promise<Reply> {
    const messageId = ++this.#messages;
    return new Promise((resolve) => {
      this.#waiting.set(messageId, resolve);
      this.#send({ ...frame, messageId });
    });
  }
}

/** The result of a reply, or its refusal as an error. */
function accepted(reply: Reply): JsonValue | undefined {
  if (reply.type === "reply" && reply.ok) return reply.result;
  throw refusal(reply);
}

function refusal(reply: Reply): HoldpointError {
  if (reply.error !== undefined) return fromErrorRecord(reply.error);
  return new HoldpointError("protocolRejected", `The server sent ${reply.type} without a result and without an error.`);
}
