/**
 * Alerts: what is wrong outside, as chats are told. One message for each thing, edited as long as it lasts and closed by a message of its own.
 *
 * Owns: alerts, alert_episodes, alert_digests, alert_messages; what is new, what is an edit, what becomes a list. Must not: word anything, or
 * watch anything (monitors do).
 */
import { acknowledge, snooze, takeRepair } from "./people.ts";
import { raise } from "./raise.ts";
import { recover } from "./recover.ts";
import { tend } from "./tend.ts";

export { reads } from "./reads.ts";

export const commands = { raise, recover, acknowledge, snooze, takeRepair, tend } as const;
