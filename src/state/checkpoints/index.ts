/**
 * Checkpoints: a run stops until an operator answers. Owns `interactive_requests`. Must not: judge people (decisions do
 * that), or know what an answer means to the workflow.
 */
import { answer } from "./answer.ts";
import { request } from "./request.ts";

export { reads } from "./reads.ts";

export const commands = { request, answer } as const;
