/**
 * The demo's side of the Bot API stand-in's control channel: what the phone shows, and what its person does.
 * The stand-in is a process of its own (adapters/telegram/sim), started by path; only the shapes used here are named.
 */
import { HoldpointError } from "../../contracts/errors.ts";

interface PhoneEntity {
  readonly type: string;
  /** UTF-16 units. */
  readonly offset: number;
  readonly length: number;
}

export interface PhoneButton {
  readonly text: string;
  readonly disabled?: true;
  readonly data?: string;
}

export interface PhoneMessage {
  readonly id: number;
  readonly from: "bot" | number;
  readonly text: string;
  readonly entities: readonly PhoneEntity[];
  readonly buttons: readonly (readonly PhoneButton[])[];
  readonly replyTo?: number;
  readonly forceReply?: "only" | "keyboard";
  readonly deleted: boolean;
  readonly at: number;
  readonly editedAt?: number;
  /** Earlier looks, oldest first. */
  readonly versions: readonly { readonly at: number; readonly text: string }[];
}

interface PhoneTap {
  readonly callbackId: string;
  readonly messageId?: number;
  readonly data: string;
  readonly at: number;
  readonly updateId: number | null;
  readonly answer?: { readonly at: number; readonly text: string; readonly alert: boolean };
}

interface PhoneRequest {
  readonly method: string;
  readonly at: number;
  readonly verdict?: { readonly at: number; readonly ok: boolean };
  readonly updateIds?: readonly number[];
}

export interface PhoneState {
  readonly version: number;
  readonly chats: readonly { readonly id: number; readonly messages: readonly PhoneMessage[] }[];
  readonly taps: readonly PhoneTap[];
  readonly requests: readonly PhoneRequest[];
}

/** A long poll is held this long; milliseconds. */
const HOLD_MS = 5_000;

export class StandIn {
  readonly #root: string;
  readonly #person: number;
  readonly #signal: AbortSignal;

  /** @param person the id of the one person, which is also the id of the private chat with the bot */
  constructor(controlPort: number, person: number, signal: AbortSignal) {
    this.#root = `http://127.0.0.1:${controlPort}/_sim`;
    this.#person = person;
    this.#signal = signal;
  }

  /** The present state, or with `since` the next one that differs (or the same after `limitMs`, at most a while). */
  async state(since?: number, limitMs = HOLD_MS): Promise<PhoneState> {
    const query = since === undefined ? "" : `?since=${since}&wait=${Math.ceil(Math.min(limitMs, HOLD_MS))}`;
    return (await this.#call(`/state${query}`)) as PhoneState;
  }

  /** Presses a button by its number, 0 for the first. */
  async tap(messageId: number, button: number): Promise<{ updateId: number | null; callbackId: string }> {
    const args = [this.#person, this.#person, messageId, button];
    return (await this.#call("/people/tap", args)) as { updateId: number | null; callbackId: string };
  }

  async reply(toMessageId: number, text: string): Promise<{ updateId: number | null; messageId: number }> {
    const args = [this.#person, this.#person, toMessageId, text];
    return (await this.#call("/people/reply", args)) as { updateId: number | null; messageId: number };
  }

  /** The messages that the person can see, oldest first. */
  messages(state: PhoneState): PhoneMessage[] {
    const chat = state.chats.find((one) => one.id === this.#person);
    return (chat?.messages ?? []).filter((message) => !message.deleted);
  }

  async #call(path: string, args?: readonly unknown[]): Promise<unknown> {
    const init: RequestInit = { signal: this.#signal };
    if (args)
      Object.assign(init, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(args),
      });
    const response = await fetch(this.#root + path, init);
    const body = (await response.json()) as { result?: unknown; error?: string };
    if (response.ok) return body.result;
    throw new HoldpointError("demoFailed", `The Bot API stand-in refused ${path}: ${body.error ?? response.status}`);
  }
}
