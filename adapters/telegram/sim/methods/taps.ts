/** answerCallbackQuery: ends a person's spinner and may show a toast. */
import { badRequest } from "../api-error.ts";
import { LIMITS } from "../limits.ts";
import { type Call, flag, text } from "./call.ts";

export function answerCallbackQuery(call: Call): unknown {
  const { world } = call;
  const toast = text(call, "text");
  if (toast.length > LIMITS.callbackAnswer) throw badRequest("MESSAGE_TOO_LONG");
  const now = world.clock.now();
  const tap = world.taps.find((known) => known.callbackId === text(call, "callback_query_id"));
  // Whether the real server refuses a second answer is not known; the stand-in takes the stricter reading.
  if (!tap || tap.answer || now - tap.at >= LIMITS.callbackAnswerMs) {
    throw badRequest("query is too old and response timeout expired or query ID is invalid");
  }
  const alert = flag(call, "show_alert");
  tap.answer = { at: now, text: toast, alert };
  if (toast !== "") {
    const { callbackId, userId, chatId, messageId } = tap;
    world.toasts.push({
      callbackId,
      userId,
      ...(chatId === undefined ? {} : { chatId }),
      ...(messageId === undefined ? {} : { messageId }),
      text: toast,
      alert,
      at: now,
    });
  }
  world.touch();
  return true;
}
