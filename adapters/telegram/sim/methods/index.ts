/**
 * The methods that the stand-in knows, by lower-case name. A method checks its arguments, changes the world and returns
 * the `result`; it knows nothing of HTTP, faults or the token. Anything that is not here is answered with 404.
 */
import { getChat, getMe, sendChatAction, setMyCommands } from "./account.ts";
import type { Method } from "./call.ts";
import { deleteMessage, editMessageReplyMarkup, editMessageText, setMessageReaction } from "./edit.ts";
import { deleteWebhook, getUpdates, getWebhookInfo, setWebhook } from "./polling.ts";
import { sendDocument, sendMessage } from "./send.ts";
import { answerCallbackQuery } from "./taps.ts";

export const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>(
  Object.entries({
    getMe,
    getUpdates,
    getWebhookInfo,
    setWebhook,
    deleteWebhook,
    getChat,
    setMyCommands,
    sendChatAction,
    sendMessage,
    sendDocument,
    editMessageText,
    editMessageReplyMarkup,
    deleteMessage,
    setMessageReaction,
    answerCallbackQuery,
  }).map(([name, method]) => [name.toLowerCase(), method]),
);
