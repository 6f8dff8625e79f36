/**
 * Human decisions: a run stops here until a person, the deadline or a cancellation makes the one resolution.
 *
 * Owns: human_decisions, their submissions, votes and the one resolution; the settlement of what was shown. Must not: judge by rules of
 * its own (src/decision does), choose words, or let anything but `answerDecision` accept an answer.
 */
import { answer } from "./answer.ts";
import { escalate } from "./escalate.ts";
import { expire } from "./expire.ts";
import { remind } from "./remind.ts";
import { request } from "./request.ts";
import { revise } from "./revise.ts";

export { reads } from "./reads.ts";

export const commands = { request, answer, expire, remind, escalate, revise } as const;
