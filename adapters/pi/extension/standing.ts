/** How the session stands: idle or not, text of the person that Pi has not taken up, a file that outlives Pi. */
import { existsSync } from "node:fs";
import type { PiContext } from "./pi-api.ts";

export interface Standing {
  readonly idle: boolean;
  readonly pendingInput: boolean;
  readonly durable: boolean;
}

export class StandingWatch {
  #typed = false;
  #file: string | undefined;

  /** The person sent a text that is not handled by us; the agent will start with it. */
  typed(): void {
    this.#typed = true;
  }

  /** The agent started, or settled without having started. */
  takenUp(): void {
    this.#typed = false;
  }

  now(context: PiContext): Standing {
    const idle = context.isIdle();
    return { idle, pendingInput: this.#typed || context.hasPendingMessages(), durable: this.#durable(context) };
  }

  /** A new session has a file only from its first real message on. */
  #durable({ sessionManager }: PiContext): boolean {
    const file = sessionManager.getSessionFile();
    if (file === undefined) return false;
    if (this.#file !== file && existsSync(file)) this.#file = file;
    return this.#file === file;
  }
}
