/**
 * Sessions of Pi: which run belongs to one, messages to it, turns of its agent, and what it proves by its tree. Owns `run_bindings`,
 * `workflow_turns`, `session_terminal_views`. Must not: know how a message gets into a session, or judge a result.
 */
import { seen } from "./branch.ts";
import { clear, reached } from "./reached.ts";
import { release } from "./reserved.ts";
import { away, lostTurns, turnEnded, turnStarted } from "./turns.ts";

export { reads } from "./reads.ts";

export const commands = { seen, turnStarted, turnEnded, lostTurns, away, reached, release, clear } as const;
