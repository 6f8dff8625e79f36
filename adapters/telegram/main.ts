/**
 * The Telegram adapter: entry of its child process.
 *
 * This folder turns content into Bot API calls and updates into frames. It owns no decision, no state and no repetition of
 * sends; `call.ts` alone says what became of a call. sim/ is a local stand-in for the Bot API and is never imported here.
 */
import { runAdapter } from "../channel.ts";
import { connectTelegram } from "./connect.ts";

runAdapter(connectTelegram);
