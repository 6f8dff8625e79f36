/**
 * Follow-ups: prompts that go out after a run succeeded. Owns `workflow_follow_ups`. Must not: send anything; whoever owns the
 * session's messages takes them in their order.
 */
import { queue, remove } from "./queue.ts";

export { reads } from "./reads.ts";

export const commands = { queue, remove } as const;
