/** Questions about a state of the stand-in that many tests ask. Pure; they work on local and on fetched states. */
import type { LedgerButton, LedgerMessage, LedgerRequest, LedgerToast, SimState } from "./types.ts";

/** All messages that a person in the chat can still see, oldest first. Empty for an unknown chat. */
export function visibleMessages(state: SimState, chatId: number): LedgerMessage[] {
  return (state.chats.find((chat) => chat.id === chatId)?.messages ?? []).filter((message) => !message.deleted);
}

/** The visible messages of the bot, oldest first. */
export function botMessages(state: SimState, chatId: number): LedgerMessage[] {
  return visibleMessages(state, chatId).filter((message) => message.from === "bot");
}

/** The newest visible message of the bot that contains the text. */
export function findBotMessage(state: SimState, chatId: number, text: string): LedgerMessage | undefined {
  return botMessages(state, chatId).findLast((message) => message.text.includes(text));
}

/** The buttons of a message in reading order. */
export function buttonsOf(message: LedgerMessage): LedgerButton[] {
  return message.buttons.flat();
}

/** The toasts that one person saw, oldest first. */
export function toastsFor(state: SimState, userId: number): LedgerToast[] {
  return state.toasts.filter((toast) => toast.userId === userId);
}

/** The requests of one method (any case), oldest first. */
export function requestsOf(state: SimState, method: string): LedgerRequest[] {
  const wanted = method.toLowerCase();
  return state.requests.filter((request) => request.method.toLowerCase() === wanted);
}
