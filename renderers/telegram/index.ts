// Rendering for Telegram: cards, notifications and replies as parts with explicit entities, never a parse mode.
//
// Owns: layout, marks, buttons. Must not: know tokens, chats or message ids, choose words of its own, or call anything.

export { bodyOf, type Part, type PartButton, type PartEntity } from "../part.ts";
export type { Clock } from "../text/phrase.ts";
export { wordsIn } from "../text/index.ts";
export { renderAlert } from "./alert.ts";
export { renderCard, renderDocument } from "./card.ts";
export { renderNotification } from "./notification.ts";
export { renderReply } from "./reply.ts";
