// Every fixed word that people read in chats and on cards, in English: the one module that renderers ask for words.
// Another language is another module with the same exports.

export * from "./en/alert.ts";
export * from "./en/card.ts";
export { findingPhrase } from "./en/findings.ts";
export { voteLines } from "./en/notices.ts";
export * from "./en/notification.ts";
export * from "./en/operator.ts";
export * as pi from "./en/pi.ts";
export * as piCommands from "./en/pi-commands.ts";
export * from "./en/reply.ts";
export { plain, writeTime } from "./en/time.ts";
export * from "./en/session.ts";
