/**
 * Channels: what people send, handed over one update at a time by an adapter, and the cursor over it.
 *
 * Owns: channels, channel_inbox, channel_places, decision_prompts, operator_uses; who is heard; which reply goes back. Must not: accept answers (the one
 * door in decisions does), keep the body of an update, or send anything to a place that is not allowed.
 */
import { hearing } from "./hearing.ts";
import { open } from "./open.ts";
import { tellLate } from "./late.ts";
import { polled } from "./polled.ts";
import { receive } from "./receive.ts";

export { reads } from "./reads.ts";

export const commands = { open, receive, polled, tellLate, hearing } as const;
