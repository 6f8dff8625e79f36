// A reply, prompt or toast as Telegram shows it.

import type { ReplyCode } from "../../src/contracts/decision/codes.ts";
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import { TELEGRAM } from "../../src/contracts/limits.ts";
import type { Part } from "../part.ts";
import { replyPhrase } from "../text/en.ts";
import type { Clock } from "../text/phrase.ts";
import { RichText } from "./rich.ts";

/** One message without buttons. Replies are short by construction; one that is not is cut, with an ellipsis. */
export function renderReply(code: ReplyCode, clock: Clock): Part {
  const rich = new RichText().phrase(replyPhrase(code), { nameZone: true, ...clock });
  const text = cutToUnits(rich.text, TELEGRAM.messageUnits);
  return {
    text,
    entities: rich.entities.filter(({ length, offset }) => offset + length < text.length || text === rich.text),
    buttons: [],
    index: 1,
    of: 1,
    body: { offset: 0, length: text.length },
  };
}
