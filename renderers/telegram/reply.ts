// A reply, prompt or toast as Telegram shows it.

import { buttonIdsOf, type ReplyCode } from "../../src/contracts/decision/codes.ts";
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import { buttonKey, type OperatorButton, type OperatorUse } from "../../src/contracts/decision/operator-codes.ts";
import { TELEGRAM } from "../../src/contracts/limits.ts";
import type { Part, PartButton } from "../part.ts";
import { wordsIn, type Words } from "../text/index.ts";
import type { Clock } from "../text/phrase.ts";
import { RichText } from "./rich.ts";

/** Buttons under an answer to an operator, and what people did with those that are gone. */
export interface ReplyButtons {
  readonly buttons?: readonly (readonly OperatorButton[])[] | undefined;
  readonly used?: readonly OperatorUse[] | undefined;
}

/** Buttons in a row that phones still show whole; a list has one in each. */
const PER_ROW = 3;

function buttonsOf(code: ReplyCode, { replyButton }: Words): PartButton[][] {
  const buttons = buttonIdsOf(code).map((id): PartButton => ({ label: replyButton(code, id), choice: id }));
  return code.code === "offlineDigest" || buttons.length > PER_ROW
    ? buttons.map((button) => [button])
    : buttons.length === 0
      ? []
      : [buttons];
}

/** One message, with buttons where there are some. Replies are short by construction; one that is not is cut, with an ellipsis. */
export function renderReply(code: ReplyCode, clock: Clock, { buttons, used = [] }: ReplyButtons = {}): Part {
  const at = { nameZone: true, ...clock };
  const words = wordsIn(clock.language);
  const rich = new RichText().phrase(words.replyPhrase(code), at);
  if (used.length > 0) rich.add("\n");
  for (const use of used) rich.add("\n").phrase(words.usePhrase(use), at);
  const text = cutToUnits(rich.text, TELEGRAM.messageUnits);
  return {
    text,
    entities: rich.entities.filter(({ length, offset }) => offset + length < text.length || text === rich.text),
    buttons:
      buttons === undefined
        ? buttonsOf(code, words)
        : buttons.map((row) => row.map((button) => buttonOf(button, words))),
    index: 1,
    of: 1,
    body: { offset: 0, length: text.length },
  };
}

function buttonOf(button: OperatorButton, { operatorButton }: Words): PartButton {
  const one = { label: operatorButton(button), choice: buttonKey(button) };
  if (button.action === "cancelRun") return { ...one, style: "danger" };
  return button.action === "arrived" ? { ...one, style: "success" } : one;
}
