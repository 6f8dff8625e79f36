/**
 * The dialog in which a person answers a decision, opened on request. It stops nothing else, and closes when the decision was
 * settled anywhere or the session ends. Leaving it means nothing: the decision stays as it is.
 */
import { piCommands } from "../../../../renderers/text/en.ts";
import { clean } from "../../../../renderers/terminal/layout.ts";
import type { SessionDecision, SessionView } from "../../../../src/contracts/pi/session-view.ts";
import type { Life } from "../life.ts";
import type { PiUi } from "../pi-api.ts";

const words = piCommands.answers;

export interface Chosen {
  readonly choice: string;
  readonly text: string | null;
}

export class Dialogs {
  readonly #life: Life;
  /** By decision: one dialog for each. */
  readonly #open = new Map<string, AbortController>();

  constructor(life: Life) {
    this.#life = life;
  }

  /** Asks the person. Null when they left it, or it was closed because there is nothing to answer any more. */
  async ask(ui: PiUi, { card, decisionId, fingerprint }: SessionDecision): Promise<Chosen | null> {
    if (this.#open.has(decisionId)) return null;
    const stop = new AbortController();
    this.#open.set(decisionId, stop);
    const signal = AbortSignal.any([stop.signal, this.#life.signal]);
    try {
      const title = words.dialogTitle(card.title, fingerprint);
      const labels = card.choices.map(
        ({ hasInput, id, label }) => `${clean(label)}${hasInput ? "\u2026" : ""} (${id})`,
      );
      // The harmless one stands first, where a stray Enter lands.
      const picked = await ui.select(title, [words.notNow, ...labels], { signal });
      const choice = card.choices[labels.indexOf(picked ?? "")];
      if (choice === undefined || signal.aborted) return null;
      if (!choice.hasInput) return { choice: choice.id, text: null };
      const text = await ui.input(`${title}: ${clean(choice.label)}`, undefined, { signal });
      if (text === undefined || signal.aborted) return null;
      return { choice: choice.id, text };
    } finally {
      this.#open.delete(decisionId);
    }
  }

  /** Closes the dialogs of decisions that do not wait any more. */
  see({ decisions }: SessionView): void {
    for (const [decisionId, stop] of this.#open) {
      const waits = decisions.some((one) => one.decisionId === decisionId && one.state.status.kind === "pending");
      if (!waits) stop.abort();
    }
  }
}
