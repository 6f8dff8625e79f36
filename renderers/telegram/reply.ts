// A reply, prompt or toast as Telegram shows it.

import { buttonIdsOf, type ReplyCode } from "../../src/contracts/decision/codes.ts";
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import { TELEGRAM } from "../../src/contracts/limits.ts";
import type { Part, PartButton } from "../part.ts";
import { replyButton, replyPhrase } from "../text/en.ts";
import type { Clock } from "../text/phrase.ts";
import { RichText } from "./rich.ts";

/** Buttons in a row that phones still show whole; a list has one in each. */
const PER_ROW = 3;

function buttonsOf(code: ReplyCode): PartButton[][] {
  const buttons = buttonIdsOf(code).map((id): PartButton => ({ label: replyButton(code, id), choice: id }));
  return code.code === "offlineDigest" || buttons.length > PER_ROW
    ? buttons.map((button) => [button])
    : buttons.length === 0
      ? []
      : [buttons];
}

/** One message, with buttons where the code has some. Replies are short by construction; one that is not is cut, with an ellipsis. */
export function renderReply(code: ReplyCode, clock: Clock): Part {
  const rich = new RichText().phrase(replyPhrase(code), { nameZone: true, ...clock });
  const text = cutToUnits(rich.text, TELEGRAM.messageUnits);
  return {
    text,
    entities: rich.entities.filter(({ length, offset }) => offset + length < text.length || text === rich.text),
    buttons: buttonsOf(code),
    index: 1,
    of: 1,
    body: { offset: 0, length: text.length },
  };
}
