// The keyboard under a card's last part.

import { buttonLabel } from "../../src/contracts/decision/body.ts";
import type { CardModel, CardState } from "../../src/contracts/decision/card.ts";
import { TELEGRAM } from "../../src/contracts/limits.ts";
import { cardClock, styleOf } from "../card.ts";
import type { PartButton } from "../part.ts";
import { wordsIn } from "../text/index.ts";

/** Buttons in a row that phones still show whole. */
const PER_ROW = 3;

/** The choices while the card waits; afterwards one dead button that says what became of it. */
export function buttonRows(card: CardModel, state: CardState): PartButton[][] {
  if (state.status.kind !== "pending") {
    const { plain, settledButton } = wordsIn(card.language);
    const label = plain(settledButton(state.status), cardClock(card, false));
    return [[{ label, choice: null, disabled: true }]];
  }
  const rows: PartButton[][] = [];
  let room = 0;
  for (const choice of card.choices) {
    const style = styleOf(choice);
    const label = buttonLabel(choice);
    const button: PartButton = style === undefined ? { label, choice: choice.id } : { label, choice: choice.id, style };
    const row = rows.at(-1);
    if (row === undefined || row.length === PER_ROW || label.length > room) {
      rows.push([button]);
      room = TELEGRAM.buttonUnits - label.length;
    } else {
      row.push(button);
      room -= label.length;
    }
  }
  return rows;
}
