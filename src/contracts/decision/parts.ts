// Where a body is cut into the parts of a chat message. The cuts depend on the body alone, never on the state of the
// decision, so that a settled card can always be edited in place.

import { DECISION, TELEGRAM } from "../limits.ts";
import { layoutBody, type BodySource, type CardBody } from "./body.ts";
import { codePointFloor, graphemeFloor } from "./graphemes.ts";
import type { Problem } from "./issues.ts";

/** One part's piece of the body, offsets in UTF-16 units. The pieces touch: nothing is dropped between them. */
export interface BodyPiece {
  readonly start: number;
  readonly end: number;
}

/** Units that line breaks between status, body, footer and verdict may take. */
const BREAKS = 8;
const UNDER_STATUS = TELEGRAM.messageUnits - TELEGRAM.statusUnits - BREAKS;

/** Units of what a card says about its document. */
const DOCUMENT_LINES = 200;

/** Units of body that fit into a part, by its place. The reserved units hold the verdict and the end of the story. */
export const PART_ROOM = {
  first: UNDER_STATUS - TELEGRAM.reservedUnits,
  middle: UNDER_STATUS,
  last: UNDER_STATUS - TELEGRAM.reservedUnits - TELEGRAM.footerUnits,
} as const;

/**
 * Cuts a body into pieces that fit their parts: between blocks if that leaves a part half full, else between
 * paragraphs, lines, words, graphemes. White space at a cut begins the next piece, because chats drop it at the end
 * of a message. A body that needs more than the allowed parts this way is packed tighter.
 */
export function cutBody(body: CardBody): BodyPiece[] {
  const loose = cutWith(body, 0.5);
  return loose.length <= DECISION.transportParts ? loose : cutWith(body, 0.95);
}

/** The problem of a body that needs more parts than a recipient may get, or undefined. */
export function partsProblem(body: CardBody): Problem | undefined {
  const seen = cutBody(body).length;
  const limit = DECISION.transportParts;
  if (seen <= limit) return undefined;
  return { path: [], text: `needs ${seen} chat messages; the limit is ${limit}`, limit, seen };
}

/** Whether a card is one message and a document, where the channel takes files. Depends on the card alone. */
export function isForDocument(source: BodySource): boolean {
  // Making a character visible takes at most eight units; most cards are far too short to be laid out for this.
  const units = JSON.stringify(source.presentation).length;
  if (units * 8 < DECISION.messageParts * PART_ROOM.last) return false;
  return source.presentation.sensitive !== true && cutBody(layoutBody(source)).length > DECISION.messageParts;
}

/** The beginning of a body that fits into the one message beside a document. */
export function bodyStart(body: CardBody): BodyPiece {
  const room = PART_ROOM.last - DOCUMENT_LINES;
  if (body.text.length <= room) return { start: 0, end: body.text.length };
  return { start: 0, end: bestCut(body, 0, Math.ceil(room / 2), room) };
}

function cutWith(body: CardBody, fill: number): BodyPiece[] {
  const { length } = body.text;
  const pieces: BodyPiece[] = [];
  let start = 0;
  // A body that fits under one status line, with footer and verdict, is one part.
  while (length - start > PART_ROOM.last) {
    const room = pieces.length === 0 ? PART_ROOM.first : PART_ROOM.middle;
    // The last part keeps something of the body, so that the buttons never stand alone.
    const end = Math.min(start + room, length - Math.floor(PART_ROOM.last / 16));
    const cut = bestCut(body, start, start + Math.ceil((end - start) * fill), end);
    pieces.push({ start, end: cut });
    start = cut;
  }
  pieces.push({ start, end: length });
  return pieces;
}

/** The best place in [low, high] to end a piece that begins at `start`. */
function bestCut({ text, seams }: CardBody, start: number, low: number, high: number): number {
  const seam = seams.findLast((at) => at >= low && at <= high);
  if (seam !== undefined) return seam;
  for (const space of ["\n\n", "\n", " "]) {
    let at = text.lastIndexOf(space, high);
    if (at < low) continue;
    while (at > low && /[\n ]/.test(text.charAt(at - 1))) at -= 1;
    return at;
  }
  const floor = graphemeFloor(text, start, high);
  // A flood of combining marks may be one "character" of many parts; it is cut between code points.
  return floor >= low ? floor : codePointFloor(text, high);
}
