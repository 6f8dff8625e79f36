/**
 * The turns of this session as Holdpoint counts them: from the first `agent_start` after idle to `agent_settled`, retries
 * inside. Kept here from the beginning, because the link that reports them may be there only later.
 */
import { randomUUID } from "node:crypto";
import { messageIdOf } from "./hidden-id.ts";
import type { PiEvents, PiMessage, PiSession } from "./pi-api.ts";

export type Cause =
  | { readonly kind: "message"; readonly messageId: string }
  | { readonly kind: "user" }
  | { readonly kind: "other" };

export interface TurnStart {
  readonly turnId: string;
  readonly cause: Cause;
}

export interface TurnEnd {
  readonly turnId: string;
  readonly stop: "completed" | "aborted" | "error";
  readonly error: string | null;
  readonly responseEntryId: string | null;
  /** How long it took; a computer that sleeps does not count. */
  readonly activeMs: number;
  /** Text of the last message of the model. */
  readonly text: string;
}

export type TurnReport = { readonly start: TurnStart } | { readonly end: TurnEnd; readonly start: TurnStart };

export class Turns {
  readonly #report: (report: TurnReport) => void;
  #cause: Cause = { kind: "other" };
  #open: TurnStart | undefined;
  #began = 0;
  #last: PiMessage | undefined;

  constructor(report: (report: TurnReport) => void) {
    this.#report = report;
  }

  /** The turn that is under way. */
  get open(): TurnStart | undefined {
    return this.#open;
  }

  /** How long the open turn has taken so far, in milliseconds. */
  get activeMs(): number {
    return Math.max(0, Math.round(performance.now() - this.#began));
  }

  beforeStart(event: PiEvents["before_agent_start"]): void {
    if (event.messageType === "user") {
      this.#cause = { kind: "user" };
      return;
    }
    const messageId = messageIdOf(event.message);
    this.#cause = messageId === undefined ? { kind: "other" } : { kind: "message", messageId };
  }

  start(): void {
    // A retry of the same turn.
    if (this.#open !== undefined) return;
    this.#open = { turnId: randomUUID(), cause: this.#cause };
    this.#began = performance.now();
    this.#cause = { kind: "other" };
    this.#last = undefined;
    this.#report({ start: this.#open });
  }

  /** Pi may go on after this by itself (a retry, a queued message); the turn ends when it has settled. */
  pass({ messages }: PiEvents["agent_end"]): void {
    this.#last = messages.findLast(({ role }) => role === "assistant") ?? this.#last;
  }

  /** Whether the turn that settles was stopped. */
  stopped({ aborted }: PiEvents["agent_settled"]): boolean {
    return aborted === true || this.#last?.stopReason === "aborted";
  }

  settle(event: PiEvents["agent_settled"], session: PiSession): void {
    const start = this.#open;
    if (start === undefined) return;
    this.#open = undefined;
    const stop = this.stopped(event) ? "aborted" : this.#last?.stopReason === "error" ? "error" : "completed";
    const entry = session
      .getBranch()
      .findLast(({ message, type }) => type === "message" && message?.role === "assistant");
    const error = (this.#last as { errorMessage?: unknown } | undefined)?.errorMessage;
    this.#report({
      start,
      end: {
        turnId: start.turnId,
        stop,
        error: stop === "error" && typeof error === "string" ? error : null,
        responseEntryId: this.#last === undefined ? null : (entry?.id ?? null),
        activeMs: this.activeMs,
        text: textOf(this.#last),
      },
    });
  }
}

function textOf(message: PiMessage | undefined): string {
  const content = message?.content;
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const parts = content as readonly { readonly type?: string; readonly text?: string }[];
  return parts.map(({ text, type }) => (type === "text" ? (text ?? "") : "")).join("");
}
