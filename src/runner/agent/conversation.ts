/**
 * The conversation of one step: prompt, turns, submissions and their verdicts, reminders, the end. It knows nothing of
 * processes and time limits; who started it may stop listening at any moment.
 */
import { afterUnproductiveTurn, stepText, type AgentStep, type StepReason } from "../../contracts/agent-step.ts";
import { HoldpointError, toErrorRecord, type ErrorKind } from "../../contracts/errors.ts";
import { AGENT, VALUE } from "../../contracts/limits.ts";
import type { FromBridge, ToBridge, ToolCall } from "../../contracts/pi/bridge.ts";
import type { AgentOutcome, Validate } from "../../workflow/engine/index.ts";
import type { ActiveTime } from "./active-time.ts";
import { within, type PiProcess, type PiRecord } from "./pi-process.ts";
import type { AgentStepUpdate } from "./types.ts";

export interface ConversationParts {
  readonly step: AgentStep;
  readonly requestId: string;
  readonly reason: Exclude<StepReason, "reminder">;
  readonly validate: Validate;
  /** Told when a turn begins and when it is over. */
  readonly active: Pick<ActiveTime, "begin" | "end">;
  readonly publishUpdate: ((update: AgentStepUpdate) => Promise<unknown>) | undefined;
}

/** The last message of the assistant in a turn. */
interface Said {
  readonly text: string;
  readonly stopReason: string;
  readonly error: string | undefined;
}

type Verdict = Omit<Extract<ToBridge, { type: "verdict" }>, "type" | "callId">;

const SILENT: Said = { text: "", stopReason: "none", error: undefined };

export class Conversation {
  readonly #pi: PiProcess;
  readonly #parts: ConversationParts;
  readonly #ready: Promise<void>;
  /** Resolves with an outcome that was reached inside a turn. */
  readonly #reached: Promise<AgentOutcome>;
  #reach!: (outcome: AgentOutcome) => void;
  #markReady!: () => void;
  #over = false;
  #said: Said = SILENT;
  #refusals = 0;
  #refusal: string | undefined;
  #settle: () => void = () => {};
  #turnEnded: () => void = () => {};
  /** Resolves when Pi has nothing left to do. */
  #settled: Promise<void> = Promise.resolve();
  /** Calls are answered one after another. */
  #calls: Promise<void> = Promise.resolve();

  constructor(pi: PiProcess, parts: ConversationParts) {
    this.#pi = pi;
    this.#parts = parts;
    this.#ready = new Promise((resolve) => (this.#markReady = resolve));
    this.#reached = new Promise((resolve) => (this.#reach = resolve));
    pi.port.onFrame((frame) => this.#take(frame));
    pi.onEvent((record) => this.#event(record));
  }

  /** Resolves when no turn is going on. */
  get settled(): Promise<void> {
    return this.#settled;
  }

  /** Nothing that still comes from the agent has a meaning. */
  stop(): void {
    this.#over = true;
  }

  /** Leads the conversation to its outcome. Never rejects; stays pending if Pi ends. */
  async lead(): Promise<AgentOutcome> {
    let ready = false;
    await within(
      AGENT.readyMs,
      this.#ready.then(() => (ready = true)),
    );
    if (!ready)
      return this.#failed("agentFailed", `Pi was not ready within ${AGENT.readyMs} ms: ${this.#pi.diagnostic}`);

    let reason: StepReason = this.#parts.reason;
    for (let unproductive = 0; ; reason = "reminder") {
      const text = this.#text(reason, unproductive);
      this.#refusal = undefined;
      const outcome = await this.#turn(text);
      if (outcome !== null) return outcome;
      unproductive += 1;
      if (afterUnproductiveTurn(unproductive) === "missingSubmission") return this.#gaveUp();
    }
  }

  /** One prompt with everything that follows from it; null when it ended without a result. */
  async #turn(message: string): Promise<AgentOutcome | null> {
    const { active } = this.#parts;
    active.begin();
    try {
      return await this.#turnOf(message);
    } finally {
      active.end();
    }
  }

  async #turnOf(message: string): Promise<AgentOutcome | null> {
    this.#said = SILENT;
    this.#settled = new Promise((resolve) => (this.#settle = resolve));
    const turnEnd = new Promise<void>((resolve) => (this.#turnEnded = resolve));
    const response = await this.#pi.command("prompt", { message });
    if (response["success"] !== true) {
      this.#settle();
      return this.#failed("agentFailed", `Pi did not take the prompt: ${String(response["error"])}`);
    }
    if ((response["data"] as { disposition?: unknown } | undefined)?.disposition === "handled") {
      this.#settle();
      return this.#failed("agentFailed", "Pi took the prompt for a command of its own and started no turn.");
    }
    const reached = await Promise.race([this.#reached, this.#settled.then(() => null)]);
    // Writing down an accepted result is not the agent's time.
    this.#parts.active.end();
    if (reached !== null) {
      // What the model still says after its result is cut off; what was said before is written down.
      await within(AGENT.settleMs, turnEnd, this.#settled);
      return reached;
    }
    const { error, stopReason, text } = this.#said;
    if (stopReason === "error" || stopReason === "aborted") {
      return this.#failed("agentFailed", `The model did not answer: ${error ?? stopReason}`);
    }
    const { contract } = this.#parts.step;
    if (contract.kind === "submit" || text.trim() === "" || stopReason === "length") return null;
    if (text.length <= contract.maxChars) return { outcome: "ok", output: text };
    this.#refusal = `Your message has ${text.length} characters; at most ${contract.maxChars} are allowed.`;
    return null;
  }

  #text(reason: StepReason, reminder: number): string {
    const { requestId, step } = this.#parts;
    const problem = this.#refusals === 0 ? this.#refusal : "What you submitted was refused.";
    return stepText(step, reason, { requestId, reminder, problem });
  }

  #gaveUp(): AgentOutcome {
    const { nodeId } = this.#parts.step;
    const why = this.#refusal === undefined ? "" : ` ${this.#refusal}`;
    return this.#failed(
      "missingSubmission",
      `The agent of node "${nodeId}" ended ${AGENT.reminders + 1} turns without a result, ${AGENT.reminders} of them after a reminder.${why}`,
    );
  }

  #event(record: PiRecord): void {
    if (record.type === "message_end") this.#said = assistantMessage(record["message"]) ?? this.#said;
    else if (record.type === "turn_end") this.#turnEnded();
    else if (record.type === "agent_settled") this.#settle();
  }

  #take(frame: FromBridge): void {
    if (frame.type === "ready") return this.#markReady();
    const { call, callId } = frame;
    this.#calls = this.#calls.then(() => this.#answer(call, callId));
  }

  async #answer(call: ToolCall, callId: string): Promise<void> {
    const verdict = await this.#judge(call, callId);
    this.#pi.port.send({ type: "verdict", callId, ...verdict });
  }

  async #judge(call: ToolCall, callId: string): Promise<Verdict> {
    if (this.#over) return refused("The step is over. End your turn.", true);
    const { requestId } = this.#parts;
    if (call.requestId !== requestId) {
      return refused(`This step has the requestId "${requestId}", not "${call.requestId}".`);
    }
    try {
      return call.action === "submit" ? await this.#submit(call.output) : await this.#update(call, callId);
    } catch (error) {
      return refused(error instanceof Error ? error.message : String(error));
    }
  }

  async #submit(output: Extract<ToolCall, { action: "submit" }>["output"]): Promise<Verdict> {
    const bytes = Buffer.byteLength(JSON.stringify(output));
    const validated =
      bytes > VALUE.outputBytes
        ? { ok: false as const, message: `It has ${bytes} bytes of JSON; the limit is ${VALUE.outputBytes}.` }
        : await this.#parts.validate(output);
    if (validated.ok) {
      this.#over = true;
      this.#reach({ outcome: "ok", output: validated.value });
      return { ok: true, text: "Accepted. End your turn now.", end: true };
    }
    this.#refusals += 1;
    if (this.#refusals >= AGENT.refusals) {
      this.#over = true;
      this.#reach(
        this.#failed(
          "outputRefused",
          `${this.#refusals} submissions for node "${this.#parts.step.nodeId}" were refused, the last one: ${validated.message}`,
        ),
      );
      return refused("Refused too often. The step is over. End your turn.", true);
    }
    return refused(`The output is refused: ${validated.message}\nCorrect it and submit again with the same requestId.`);
  }

  async #update({ update }: Extract<ToolCall, { action: "update" }>, toolCallId: string): Promise<Verdict> {
    const { publishUpdate, step } = this.#parts;
    if (publishUpdate === undefined) return refused("This step takes no updates. Go on without.");
    const { attempt, nodeId, visit } = step;
    await publishUpdate({ nodeId, visit, attempt, toolCallId, update });
    return { ok: true, text: "Noted. Go on.", end: false };
  }

  #failed(kind: ErrorKind, message: string): AgentOutcome {
    const bounded = message.length > VALUE.errorChars ? `${message.slice(0, VALUE.errorChars - 1)}\u2026` : message;
    const details = { node: this.#parts.step.nodeId };
    return { outcome: "failed", error: toErrorRecord(new HoldpointError(kind, bounded, { details })) };
  }
}

function refused(text: string, end = false): Verdict {
  return { ok: false, text, end };
}

/** What an assistant's message says visibly (message-types.md); undefined for messages of others. */
function assistantMessage(message: unknown): Said | undefined {
  if (typeof message !== "object" || message === null) return undefined;
  const { content, errorMessage, role, stopReason } = message as Record<string, unknown>;
  if (role !== "assistant") return undefined;
  const text = (Array.isArray(content) ? (content as { type?: unknown; text?: unknown }[]) : [])
    .filter((block) => block.type === "text" && typeof block.text === "string")
    .map((block) => block.text as string)
    .join("");
  return { text, stopReason: String(stopReason), error: typeof errorMessage === "string" ? errorMessage : undefined };
}
