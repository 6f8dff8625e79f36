/**
 * Who answers in the demo: a person at the keyboard, or a list of answers when nobody is there.
 */
import { createInterface, type Interface } from "node:readline";

import { HoldpointError } from "../../contracts/errors.ts";
import { DEMO } from "../../contracts/limits.ts";
import type { Context } from "../context.ts";
import { clean } from "../layout.ts";
import { APPROVE, choiceIndex, type GivenAnswer } from "./answers.ts";
import type { Act, Turn } from "./conversation.ts";
import { liveButtons } from "./phone.ts";

export interface Answerer {
  /** The next act. Called again when the turn is still open after the last one. */
  next(turn: Turn): Promise<Act>;
  /** Whether the decision must be known (to find a choice by its id). */
  readonly needsDecision: boolean;
  /** How long what follows from an act may take before the turn is taken as still open; milliseconds. */
  readonly patienceMs: number;
  /** Answers that were given and that no decision asked for. */
  unused(): readonly GivenAnswer[];
  close(): void;
}

/** Gives the answers in order, then approves. One decision gets one answer. */
export function listAnswerer(context: Context, answers: readonly GivenAnswer[]): Answerer {
  const left = [...answers];
  let current: { card: number; answer: GivenAnswer } | undefined;
  return {
    needsDecision: true,
    patienceMs: DEMO.reactionMs,
    unused: () => left,
    close: () => {},
    async next({ card, prompt, decision }) {
      if (decision === undefined) throw new HoldpointError("demoFailed", "The card belongs to no open decision.");
      if (current?.card !== card.id) {
        const answer = left.shift() ?? APPROVE;
        current = { card: card.id, answer };
        context.line();
        context.line(`Nobody is asked here: answering "${answer.choice}" by itself.`);
        return { tap: choiceIndex(answer, decision.choices) };
      }
      if (prompt !== undefined && current.answer.text !== null) return { text: current.answer.text };
      throw new HoldpointError("demoFailed", `The answer "${current.answer.choice}" did not settle the card.`);
    },
  };
}

/** Asks at the keyboard: a number presses a button, anything else is a reply. At the end of input it approves. */
export function keyboardAnswerer(context: Context, signal: AbortSignal): Answerer {
  const lines = readLines(context, signal);
  const fallback = listAnswerer(context, []);
  let ended = false;
  return {
    needsDecision: false,
    patienceMs: DEMO.patienceMs,
    unused: () => [],
    close: () => lines.close(),
    async next(turn) {
      const buttons = liveButtons(turn.card);
      const numbers = buttons.map((button, i) => `${i + 1} ${clean(button.text)}`).join(", ");
      const question = turn.prompt === undefined ? `Press a button (${numbers}) or write a reply: ` : "Your reply: ";
      while (!ended) {
        const line = await lines.ask(question);
        if (line === undefined) {
          ended = true;
          break;
        }
        const number = /^[0-9]{1,2}$/.test(line.trim()) ? Number(line) : undefined;
        if (number !== undefined && number >= 1 && number <= buttons.length) return { tap: number - 1 };
        if (line.trim() !== "" && (number === undefined || turn.prompt !== undefined)) return { text: line };
      }
      return fallback.next(turn);
    },
  };
}

interface Lines {
  /** The next line, or undefined at the end of the input. */
  ask(question: string): Promise<string | undefined>;
  close(): void;
}

function readLines(context: Context, signal: AbortSignal): Lines {
  const reader: Interface = createInterface({ input: context.io.stdin });
  const waiting: string[] = [];
  let wanted: ((line: string | undefined) => void) | undefined;
  let over = false;
  reader.on("line", (line) => {
    if (wanted) wanted(line);
    else waiting.push(line);
    wanted = undefined;
  });
  reader.on("close", () => {
    over = true;
    wanted?.(undefined);
  });
  return {
    ask(question) {
      context.io.out(`\n${question}`);
      const ready = waiting.shift();
      if (ready !== undefined) return Promise.resolve(ready);
      if (over) return Promise.resolve(undefined);
      return new Promise((resolve, reject) => {
        wanted = resolve;
        signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
      });
    },
    close: () => reader.close(),
  };
}
