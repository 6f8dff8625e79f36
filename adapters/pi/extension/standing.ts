/** How the session stands: idle or not, text of the person that Pi has not taken up, a file that outlives Pi. */
import { existsSync } from "node:fs";
import { PI_CONNECT } from "../../../src/contracts/limits.ts";
import type { PiContext } from "./pi-api.ts";

export interface Standing {
  readonly idle: boolean;
  readonly pendingInput: boolean;
  readonly durable: boolean;
}

export class StandingWatch {
  #typedAt: number | undefined;
  #file: string | undefined;

  /** The person sent a text that is not handled by us; the agent will start with it. */
  typed(): void {
    this.#typedAt = Date.now();
  }

  /** The agent started, or settled without having started. */
  takenUp(): void {
    this.#typedAt = undefined;
  }

  now(context: PiContext): Standing {
    const idle = context.isIdle();
    return { idle, pendingInput: this.#typed() || context.hasPendingMessages(), durable: this.#durable(context) };
  }

  /** Not for ever: another extension may have taken the text, or Pi may have refused it. */
  #typed(): boolean {
    return this.#typedAt !== undefined && Date.now() - this.#typedAt < PI_CONNECT.typedMs;
  }

  /**
   * A new session has a file only from its first real message on. One that never gets one is gone with Pi, and everything that waits for it: what is
   * in it counts as kept.
   */
  #durable({ sessionManager }: PiContext): boolean {
    const file = sessionManager.getSessionFile();
    if (file === undefined) return true;
    if (this.#file !== file && existsSync(file)) this.#file = file;
    return this.#file === file;
  }
}
