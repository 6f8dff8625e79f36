/**
 * The Pi channel as part of the server: its adapter child runs when something may need it (an audience names it, a run of a session is open, or an
 * extension asked for it), and the conversations that go through it.
 */
import { join } from "node:path";
import { PI } from "../../contracts/config.ts";
import type { ChannelSpec } from "../channels/channel-supervisor.ts";
import { Conversations, type ConversationDeps } from "./conversations.ts";

export interface PiChannelDeps extends ConversationDeps {
  readonly home: string;
  readonly product: string;
  readonly installPath: string;
  /** Starts and stops channels as they are wanted now, and resolves when that of Pi is ready. */
  readonly apply: () => Promise<void>;
  readonly ready: () => Promise<void>;
}

export class PiChannel {
  readonly conversations: Conversations;
  readonly #deps: PiChannelDeps;
  #asked = false;

  constructor(deps: PiChannelDeps) {
    this.#deps = deps;
    this.conversations = new Conversations(deps);
  }

  get socket(): string {
    return join(this.#deps.home, "pi.sock");
  }

  /** The channel's spec, if it is wanted now. Once wanted it stays, so that no session is cut off by a reload. */
  specs(): ChannelSpec[] {
    const { config, installPath, product, store } = this.#deps;
    const { audiences, pi } = config();
    const named = Object.values(audiences).some(({ destinations }) => destinations.includes(PI));
    this.#asked ||= named || store.read.sessions.anyOpen();
    if (!this.#asked) return [];
    const settings = { socket: this.socket, rpcAnswers: pi.rpcAnswers === true, product, installPath };
    return [{ channelId: PI, kind: PI, profile: "", settings, tokenFile: null, places: [] }];
  }

  /** An extension wants to connect: resolves with the path when its socket listens. Rejects with why it does not. */
  async open(): Promise<string> {
    this.#asked = true;
    await this.#deps.apply();
    await this.#deps.ready();
    return this.socket;
  }
}
