/**
 * Agent steps in sessions: what a step asks, what was handed in, and what the workflow made of it. Owns `agent_requests` and
 * `agent_submissions`. Must not: talk to a session, or judge a result (a runner does, with the workflow's own code).
 */
import { ask } from "./ask.ts";
import { timeOut } from "./ending.ts";
import { judged } from "./judged.ts";
import { submit } from "./submit.ts";
import { update } from "./update.ts";

export const commands = { ask, submit, judged, update, timeOut } as const;
