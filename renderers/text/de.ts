// Every fixed word that people read in chats and on cards, in German. What a session of Pi shows, which a model reads too, stays English.

export * from "./de/alert.ts";
export * from "./de/card.ts";
export { findingPhrase } from "./de/findings.ts";
export { voteLines } from "./de/notices.ts";
export * from "./de/notification.ts";
export * from "./de/operator.ts";
export * as pi from "./en/pi.ts";
export * as piCommands from "./en/pi-commands.ts";
export * from "./de/reply.ts";
export { plain, writeTime } from "./de/time.ts";
export * from "./en/session.ts";
