/**
 * Notifications: passive messages of runs. Owns `notifications`; each copy in a chat is an effect. Must not: start a model's
 * turn, or word anything that people read.
 */
import { send } from "./send.ts";

export { reads } from "./reads.ts";

export const commands = { send } as const;
