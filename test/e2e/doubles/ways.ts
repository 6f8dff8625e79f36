/** The ways in which a question can come to its answer: two people's taps, their typed texts, the deadline, and the run's cancellation. */
import { isHoldpointError } from "../../../src/contracts/errors.ts";
import { ANN, BEA, type Arena, type Question } from "./arena.ts";

/** One way of answering many questions. */
export interface Way {
  /** What must be in the chat before this person can answer; the card of a question always is. */
  readonly needs?: (arena: Arena, question: Question) => Promise<void>;
  /** Answers a question; the same is done when it is repeated. Resolves with the update that carries it, if one does. */
  readonly answer: (arena: Arena, question: Question) => Promise<number | null>;
  /** Answers whatever is open, in one act, once `soon` has been awaited; then `answer` does nothing. */
  readonly all?: { readonly soon: (arena: Arena) => Promise<void>; readonly now: (arena: Arena) => Promise<void> };
  /** The resolution that it makes when it is the first. */
  readonly makes: { readonly choice: string | null; readonly provenance: string };
  /** Comes through the chat, as an update of the bot. */
  readonly byChat: boolean;
}

const heard = (updateId: number | null): number => {
  if (updateId === null) throw new Error("the bot is not told of this");
  return updateId;
};

/** Presses a button, as a phone does that may not have heard yet that it is gone. */
function taps(user: number, label: string, choice: string): Way {
  return {
    makes: { choice, provenance: "human" },
    byChat: true,
    answer: async ({ sim }, { buttons, card, chat }) =>
      heard(sim.people.tapRaw(user, chat, card, buttons.get(label) ?? "").updateId),
  };
}

/** Asks for the question for the text, and replies to it. */
function types(user: number, name: string, known: Set<string>): Way {
  const prompts = new Map<string, number>();
  return {
    makes: { choice: "replan", provenance: "human" },
    byChat: true,
    needs: async (arena, { card, chat, title }) => {
      const { updateId } = arena.sim.people.tap(user, chat, card, "Replan…");
      const { id } = await arena.see(
        chat,
        `${name}'s question for a text`,
        ({ forceReply, id, replyTo }) => forceReply !== undefined && replyTo === card && !known.has(`${chat}:${id}`),
      );
      heard(updateId);
      known.add(`${chat}:${id}`);
      prompts.set(title, id);
    },
    answer: async ({ sim }, { chat, title }) =>
      heard(sim.people.reply(user, chat, prompts.get(title) ?? 0, `changed by ${name}`).updateId),
  };
}

const deadline: Way = {
  makes: { choice: "wait", provenance: "timeout_policy" },
  byChat: false,
  answer: () => Promise.resolve(null),
  all: { soon: ({ clock }) => clock.advance(4_999), now: ({ clock }) => clock.advance(1) },
};

/** Cancels the run as it was when the question was open, under one key. */
const cancel: Way = {
  makes: { choice: null, provenance: "explicit_cancel" },
  byChat: false,
  answer: async ({ client }, { revision, run }) => {
    await client
      .call("run.cancel", { run, reason: null }, { expectedRevision: revision, idempotencyKey: `cancel-${run}` })
      .catch((error: unknown) => {
        // Somebody has answered before; then the run is not what it was.
        if (!isHoldpointError(error) || !["revisionConflict", "runState"].includes(error.kind)) throw error;
      });
    return null;
  },
};

/** Fresh ways: they remember what was done. */
export function allWays() {
  const prompts = new Set<string>();
  return {
    "Ann's tap": taps(ANN, "Approve", "approve"),
    "Bea's tap": taps(BEA, "Stop", "stop"),
    "Ann's text": types(ANN, "Ann", prompts),
    "Bea's text": types(BEA, "Bea", prompts),
    "the deadline": deadline,
    "the cancellation": cancel,
  };
}
export type WayName = keyof ReturnType<typeof allWays>;
