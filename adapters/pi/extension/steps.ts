/**
 * Steps that workflows gave to this session: which turn works on which of them, and which tools it may use. A turn that began
 * with a step's message belongs to that step; ordinary conversation belongs to none.
 */
import { TOOL_NAME } from "../../../src/contracts/agent-step.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import { piCommands as words } from "../../../renderers/text/en.ts";
import { detailsOf } from "./hidden-id.ts";
import type { PiMessage } from "./pi-api.ts";
import type { TurnStart } from "./turns.ts";

type Request = NonNullable<SessionView["request"]>;

/** Steps that are remembered: a session has one at a time. */
const KEPT = 16;

export class Steps {
  readonly #requests = new Map<string, Request>();
  /** The step of a message of ours. */
  readonly #messages = new Map<string, string>();

  see({ request }: SessionView): void {
    if (request !== null) keep(this.#requests, request.requestId, request);
  }

  /** A message is about to begin a turn. */
  begins(message: PiMessage): void {
    const details = detailsOf(message.details);
    if (details?.message.kind === "step") keep(this.#messages, details.messageId, details.message.requestId);
  }

  /** Why a tool may not be called in this turn; undefined when it may. */
  refusal(turn: TurnStart | undefined, toolName: string): string | undefined {
    if (turn === undefined || toolName === TOOL_NAME) return undefined;
    const requestId = this.#stepOf(turn);
    if (requestId === undefined) return undefined;
    const request = this.#requests.get(requestId);
    // A step of which nothing is known: what it forbids is not known either.
    if (request === undefined) return words.stepUnknown;
    const { allowedTools } = request;
    return allowedTools === null || allowedTools.includes(toolName) ? undefined : words.toolForbidden(toolName);
  }

  /** The result of the step is the text of its turn's last message. */
  wantsText(turn: TurnStart): boolean {
    const requestId = this.#stepOf(turn);
    return requestId !== undefined && this.#requests.get(requestId)?.contract.kind === "assistantMessage";
  }

  #stepOf({ cause }: TurnStart): string | undefined {
    return cause.kind === "message" ? this.#messages.get(cause.messageId) : undefined;
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) if (map.size > KEPT) map.delete(oldest);
}
