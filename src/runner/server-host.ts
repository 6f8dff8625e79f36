/** The engine's host in a runner: every request becomes a frame to the server, every answer a resolved promise. */
import type { AgentStep } from "../contracts/agent-step.ts";
import type { CommandResult, CommandSpec } from "../contracts/command.ts";
import { fromErrorRecord, HoldpointError, type ErrorRecord } from "../contracts/errors.ts";
import type { IncludeTransition } from "../contracts/include.ts";
import { CONTENT, VALUE } from "../contracts/limits.ts";
import type { FromRunner, StepEntry, ToRunner } from "../contracts/protocol/runner.ts";
import type { ContentRef, JsonValue } from "../contracts/protocol/shared.ts";
import { settingsVersionSchema, type SettingsVersion } from "../contracts/settings.ts";
import { updateReceiptSchema, type UpdateEnvelope, type UpdateReceipt } from "../contracts/update.ts";
import type {
  AgentOutcome,
  CheckpointAsked,
  CommandListeners,
  DecisionAsked,
  EffectRequest,
  EffectReservation,
  EffectSettlement,
  EngineHost,
  SettledWithStep,
  NotificationAsked,
  SettingsAsked,
  SleepAsked,
  UpdateAsked,
  Validate,
} from "../workflow/engine/index.ts";
import { readContent, sendContent } from "./contents.ts";
import type { AgentLaunch } from "./agent/index.ts";
import type { Registrar } from "./shell/index.ts";
import { type Reserve, StepStream } from "./stream.ts";

type Reply = Extract<ToRunner, { type: "reply" | "effect.reserved" | "content.part" }>;
/** `Omit` over each member, so that the union stays one. */
type Unnumbered<T> = T extends { messageId: number } ? Omit<T, "messageId"> : never;

interface SentValue {
  readonly output?: JsonValue;
  readonly outputRef?: ContentRef;
}

/** How a step of a session stands, as the server says it. */
type SessionReply =
  | { readonly state: "parked" }
  | ({ readonly state: "candidate"; readonly requestId: string; readonly key: string } & SentValue)
  | ({ readonly state: "done" } & SentValue)
  | { readonly state: "failed" | "timedOut"; readonly error: ErrorRecord };

/** The inputs of mounts in one frame together; larger ones go by reference, so that an output still fits beside them. */
const INPUTS_BYTES = 65_536;

export class ServerHost implements EngineHost {
  readonly valueBytes = CONTENT.valueBytes;
  readonly settlesWithSteps = true;
  readonly #send: (...frames: FromRunner[]) => void;
  readonly #stream: StepStream;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  /** What was sent last: an action's result is its step's output too. */
  #lastSent: { readonly value: JsonValue; readonly ref: ContentRef } | undefined;
  #messages = 0;
  #commands = 0;
  #rewinds = 0;
  /** The reservation that went with steps: it gets no answer when they are taken back. */
  #carried: number | undefined;
  #launch: AgentLaunch | undefined;

  /** `send` puts frames on the wire, several in one write. */
  constructor(send: (...frames: FromRunner[]) => void) {
    this.#send = send;
    this.#stream = new StepStream(send);
  }

  /** What agents of this launch need to know; before the first node. */
  launched(launch: AgentLaunch): void {
    this.#launch = launch;
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
    this.#rewinds += 1;
    if (this.#carried !== undefined) this.#waiting.delete(this.#carried);
    // What was named in steps that were taken back may never have been stored.
    this.#lastSent = undefined;
    this.#stream.rewind(from);
  }

  advance(entry: StepEntry, bytes: number, settlement?: SettledWithStep): void | Promise<void> {
    return this.#stream.push(this.#wireEntry(entry, bytes), bytes, settlement);
  }

  barrier(): Promise<void> {
    return this.#stream.barrier();
  }

  yield(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve));
  }

  /** Goes with the steps before it in one frame and one commit where they have not been sent yet. */
  async reserveEffect({ effectType, nodeId, recovery, request, step }: EffectRequest): Promise<EffectReservation> {
    const asked = { nodeId, effectType, recovery, request };
    const reply = (await this.#carry(asked)) ?? (await this.#ask({ type: "effect.reserve", step, ...asked }));
    if (reply.type !== "effect.reserved") throw refusal(reply);
    if (reply.resultRef === undefined) return reply;
    return { ...reply, result: await this.readContent(reply.resultRef) };
  }

  /** Undefined when nothing was gathered that could carry it; then everything before is durable. */
  async #carry(asked: Omit<Reserve, "messageId">): Promise<Reply | undefined> {
    const messageId = this.#messages + 1;
    if (this.#stream.carry({ messageId, ...asked }, Buffer.byteLength(JSON.stringify(asked)))) {
      this.#messages = messageId;
      this.#carried = messageId;
      return new Promise((resolve) => this.#waiting.set(messageId, resolve));
    }
    const rewinds = this.#rewinds;
    await this.#stream.barrier();
    // The step was taken back while we waited: nobody asks any more.
    return rewinds === this.#rewinds ? undefined : new Promise(() => undefined);
  }

  async settleEffect({ result, ...settlement }: EffectSettlement): Promise<{ attempt: number }> {
    const large = result === undefined ? undefined : this.#large(result);
    const wire = large === undefined ? (result === undefined ? {} : { result }) : { resultRef: large };
    const answer = accepted(await this.#ask({ type: "effect.settle", ...settlement, ...wire }));
    const attempt = (answer as { attempt?: unknown } | null | undefined)?.attempt;
    return { attempt: typeof attempt === "number" ? attempt : settlement.attempt + 1 };
  }

  async requestDecision({ nodeId, request, step }: DecisionAsked): Promise<{ kind: "parked" }> {
    accepted(await this.#ask({ type: "decision", step, nodeId, request }));
    return { kind: "parked" };
  }

  async requestCheckpoint({ content, nodeId, step, summary }: CheckpointAsked): Promise<{ kind: "parked" }> {
    const contentRef = this.#large(content);
    const wire = contentRef === undefined ? { content } : { contentRef };
    accepted(await this.#ask({ type: "checkpoint", step, nodeId, summary: summary ?? null, ...wire }));
    return { kind: "parked" };
  }

  async requestSleep({ nodeId, reason, step, wake }: SleepAsked): Promise<{ kind: "parked" }> {
    accepted(await this.#ask({ type: "sleep", step, nodeId, wake, reason: reason ?? null }));
    return { kind: "parked" };
  }

  async notify({ visit: _visit, ...said }: NotificationAsked): Promise<{ index: number }> {
    const { audience = null, groupKey = null } = said;
    const asked = { type: "notify", ...said, audience, groupKey } as const;
    const result = accepted(await this.#ask(asked));
    return { index: (result as { index: number }).index };
  }

  async publishUpdate({ envelope, nodeId, step, visit }: UpdateAsked): Promise<UpdateReceipt> {
    return updateReceiptSchema.parse(accepted(await this.#ask({ type: "update", step, nodeId, visit, envelope })));
  }

  async settings({ initial, invocation, mount }: SettingsAsked): Promise<SettingsVersion> {
    return settingsVersionSchema.parse(accepted(await this.#ask({ type: "settings", mount, invocation, initial })));
  }

  async enter(transitions: readonly IncludeTransition[]): Promise<void> {
    accepted(await this.#ask({ type: "enter", transitions: this.#wireTransitions(transitions) }));
  }

  async runShell(
    spec: CommandSpec,
    owner: { readonly step: number; readonly nodeId: string },
    signal: AbortSignal,
    listeners?: CommandListeners,
  ): Promise<CommandResult> {
    // Only loaded when it is needed: a runner that never started a process is known to have none.
    const { runCommand } = await import("./shell/index.ts");
    if (this.#launch === undefined) throw new Error("there was no launch");
    this.#commands += 1;
    const mark = `${this.#launch.runId}/${owner.nodeId}/${owner.step}/${this.#commands}`;
    return runCommand(spec, { ...this.registrar("shell", owner), mark }, signal, listeners);
  }

  async runAgent(
    step: AgentStep & { readonly step: number },
    validate: Validate,
    signal: AbortSignal,
  ): Promise<AgentOutcome> {
    if (this.#launch === undefined) throw new Error("there was no launch");
    if (this.#launch.interactive === true) return this.#askSession(step, validate);
    const { nodeId, step: number, visit } = step;
    // Only loaded when it is needed, like the shell.
    const { runAgent } = await import("./agent/index.ts");
    const ports = {
      ...this.registrar("agent", { nodeId, step: number }),
      publish: async (envelope: UpdateEnvelope, sourceId: string) =>
        accepted(await this.#ask({ type: "update", step: number, nodeId, visit, envelope, sourceId })),
    };
    return runAgent(step, this.#launch, ports, validate, signal);
  }

  /** The agent of the run's session does the step; here only its result is judged. */
  async #askSession(step: AgentStep & { readonly step: number }, validate: Validate): Promise<AgentOutcome> {
    const { nodeId, step: number } = step;
    const judgedBy = async (key: string, requestId: string, given: JsonValue): Promise<AgentOutcome> => {
      const judged = await validate(given);
      const common = { type: "interaction.judged", step: number, requestId, key, ok: judged.ok } as const;
      if (!judged.ok) {
        accepted(await this.#ask({ ...common, message: judged.message.slice(0, VALUE.errorChars) }));
        return { outcome: "parked" };
      }
      const outputRef = this.#large(judged.value);
      accepted(await this.#ask({ ...common, ...(outputRef === undefined ? { output: judged.value } : { outputRef }) }));
      return { outcome: "ok", output: judged.value };
    };
    const { allowedTools, contract, prompt, statusDetail = null, timeoutMs } = step;
    const tools = allowedTools === null ? null : [...allowedTools];
    const asked = { prompt, contract, allowedTools: tools, timeoutMs, statusDetail };
    const reply = accepted(
      await this.#ask({ type: "interaction", step: number, nodeId, asked }),
    ) as unknown as SessionReply;
    switch (reply.state) {
      case "parked":
        return { outcome: "parked" };
      case "candidate":
        return judgedBy(reply.key, reply.requestId, await this.#valueOf(reply));
      case "done":
        return { outcome: "ok", output: await this.#valueOf(reply) };
      case "failed":
      case "timedOut":
        return { outcome: reply.state === "failed" ? "failed" : "timed_out", error: reply.error };
    }
  }

  async #valueOf({ output = null, outputRef }: SentValue): Promise<JsonValue> {
    return outputRef === undefined ? output : this.readContent(outputRef);
  }

  /** Makes process groups of a node known to the server. */
  registrar(kind: "shell" | "agent", { nodeId, step }: { readonly step: number; readonly nodeId: string }): Registrar {
    return {
      register: async (pid, startIdentity) => {
        const asked = { type: "process.register", kind, step, nodeId, pid, startIdentity } as const;
        return (accepted(await this.#ask(asked)) as { processId: string }).processId;
      },
      unregister: async (processId, outcome) => {
        accepted(await this.#ask({ type: "process.unregister", processId, outcome }));
      },
    };
  }

  async finish(entry: StepEntry): Promise<void> {
    const bytes = entry.output === undefined ? 0 : Buffer.byteLength(JSON.stringify(entry.output));
    accepted(await this.#ask({ type: "finish", entry: this.#wireEntry(entry, bytes) }));
  }

  /** A value that the server named. Rejects with `contentInvalid` when it is not what its digest says. */
  readContent(ref: ContentRef): Promise<JsonValue> {
    return readContent(ref, async (offset) => {
      const reply = await this.#ask({ type: "content.read", sha256: ref.sha256, offset });
      if (reply.type !== "content.part") throw refusal(reply);
      return Buffer.from(reply.data, "base64");
    });
  }

  #ask(frame: Unnumbered<FromRunner>): Promise<Reply> {
    const messageId = ++this.#messages;
    return new Promise((resolve) => {
      this.#waiting.set(messageId, resolve);
      this.#send({ ...frame, messageId });
    });
  }

  /** An entry as it fits a frame. `bytes` of its output's JSON, or more. */
  #wireEntry(entry: StepEntry, bytes: number): StepEntry {
    const { output, transitions, ...rest } = entry;
    if (bytes <= VALUE.outputBytes && transitions === undefined) return entry;
    const outputRef = output === undefined || bytes <= VALUE.outputBytes ? undefined : this.#large(output);
    return {
      ...rest,
      ...(output === undefined || outputRef !== undefined ? {} : { output }),
      ...(outputRef === undefined ? {} : { outputRef }),
      ...(transitions === undefined ? {} : { transitions: this.#wireTransitions(transitions) }),
    };
  }

  /** What a mount hands on is the step's own output, which the server has. */
  #wireTransitions(transitions: readonly IncludeTransition[]): IncludeTransition[] {
    let room = INPUTS_BYTES;
    return transitions.map((transition) => {
      if (transition.type === "include_exited") return { ...transition, output: null };
      const { input, ...rest } = transition;
      if (input === undefined) return transition;
      room -= Buffer.byteLength(JSON.stringify(input));
      return room >= 0 ? transition : { ...rest, inputRef: this.#sent(input) };
    });
  }

  /** The reference of a value that no frame holds, after it was sent; undefined for one that fits. */
  #large(value: JsonValue): ContentRef | undefined {
    if (typeof value !== "object" && typeof value !== "string") return undefined;
    return Buffer.byteLength(JSON.stringify(value)) > VALUE.outputBytes ? this.#sent(value) : undefined;
  }

  #sent(value: JsonValue): ContentRef {
    if (this.#lastSent?.value === value) return this.#lastSent.ref;
    const ref = sendContent(this.#send, value);
    this.#lastSent = { value, ref };
    return ref;
  }
}

/** The result of a reply, or its refusal as an error. */
function accepted(reply: Reply): JsonValue | undefined {
  if (reply.type === "reply" && reply.ok) return reply.result;
  throw refusal(reply);
}

function refusal(reply: Reply): HoldpointError {
  if ("error" in reply && reply.error !== undefined) return fromErrorRecord(reply.error);
  return new HoldpointError("protocolRejected", `The server sent ${reply.type} without a result and without an error.`);
}
