// A decision's card as Telegram messages.
//
// How it is cut depends on the card alone, never on its state: settling edits the same messages, adds to the first and
// the last, and leaves those between as they are, which is why only these two carry a glyph.

import { layoutBody, statusTitle, type CardBody } from "../../src/contracts/decision/body.ts";
import type { CardModel, CardState } from "../../src/contracts/decision/card.ts";
import { bodyStart, cutBody, type BodyPiece } from "../../src/contracts/decision/parts.ts";
import { inert } from "../../src/contracts/decision/inert.ts";
import { cardClock, closingLines, footerLines, glyphOf } from "../card.ts";
import type { Part } from "../part.ts";
import { wordsIn } from "../text/index.ts";
import { buttonRows } from "./buttons.ts";
import { RichText } from "./rich.ts";

/**
 * The messages of a card, in order: at most 20 for a card whose request was accepted, each at most 4,096 UTF-16
 * units, with the buttons under the last; one where its whole text is a document. The same card gives the same number of parts and the same body in each of
 * them in every state.
 */
export function renderCard(card: CardModel, state: CardState, options: CardOptions = {}): Part[] {
  const body = bodyOf(card);
  const pieces = state.notes?.document === undefined ? cutBody(body) : [bodyStart(body)];
  return pieces.map((piece, at) =>
    renderPart(card, state, body, piece, { index: at + 1, of: pieces.length, ...options }),
  );
}

export interface CardOptions {
  /** Several people read along: the card says who may answer. */
  readonly group?: boolean;
}

/** A card whose whole text is a file, with the name and caption of that file. The text is inert, and the same in every state. */
export function renderDocument(card: CardModel): { name: string; caption: string; text: string } {
  const { documentCaption, documentName, originLine } = wordsIn(card.language);
  const origin = `${originLine(card.workflowName, card.runShortId)} \u00b7 ${card.fingerprint}`;
  return {
    name: documentName(card.fingerprint),
    caption: documentCaption(statusTitle(card.title), card.fingerprint),
    text: `${inert(card.title)}\n${origin}\n\n${bodyOf(card).text}\n`,
  };
}

/** A body that is kept out of chats is one line that says so. */
function bodyOf(card: CardModel): CardBody {
  if (card.withheld !== true) return layoutBody(card);
  const presentation = {
    ...card.presentation,
    summary: wordsIn(card.language).withheldLine(card.fingerprint),
    blocks: [],
  };
  return layoutBody({ ...card, presentation });
}

function renderPart(
  card: CardModel,
  state: CardState,
  body: CardBody,
  piece: BodyPiece,
  { group = false, index, of }: CardOptions & { readonly index: number; readonly of: number },
): Part {
  const rich = new RichText();
  const clock = cardClock(card);
  const { askedLine, originLine, partOf } = wordsIn(card.language);
  const [first, last] = [index === 1, index === of];
  const closing = closingLines(card, state);

  if (first || last) rich.add(`${glyphOf(card, state.status)} `);
  rich.add(statusTitle(card.title), "bold");
  if (of > 1) rich.add(` \u00b7 ${partOf(index, of)} \u00b7 ${card.fingerprint}`);
  rich.add("\n");
  // Whoever scrolls up to a long card's beginning sees there what became of it.
  const verdict = closing[0];
  if (first && !last && verdict !== undefined) rich.phrase(verdict, clock).add("\n");

  const place = rich.piece(body, piece);

  const document = state.notes?.document;
  if (document !== undefined) {
    if (piece.end < body.text.length) rich.add("\n\u2026");
    rich.add("\n\n").add(wordsIn(card.language).documentLine(card.fingerprint, document), "italic");
  }
  if (last) {
    rich.add("\n");
    for (const line of footerLines(card, state)) rich.add("\n").phrase(line, clock);
    if (group) rich.add(`\n${askedLine(card.audience)}`);
    rich.add(`\n${originLine(card.workflowName, card.runShortId)} \u00b7 `).add(card.fingerprint, "code");
    if (closing.length > 0) rich.add("\n");
    for (const line of closing) rich.add("\n").phrase(line, clock);
  }
  return {
    text: rich.text,
    entities: rich.entities,
    buttons: last ? buttonRows(card, state) : [],
    index,
    of,
    body: place,
  };
}
