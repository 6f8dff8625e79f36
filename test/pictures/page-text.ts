/** Which texts of a message cannot be read on a page of the stand-in. */
import type { LedgerMessage } from "../../adapters/telegram/sim/types.ts";

/** Pieces of the message that the page lacks: text between times (which the reader's client writes itself), buttons, files. */
export function missingOn(page: string, message: LedgerMessage): string[] {
  const shown = textOf(page);
  return piecesOf(message).filter((piece) => !shown.includes(plain(piece)));
}

function piecesOf({ buttons, document, entities, text }: LedgerMessage): string[] {
  const pieces: string[] = [];
  let at = 0;
  const times = entities.filter(({ type }) => type === "date_time").toSorted((a, b) => a.offset - b.offset);
  for (const { length, offset } of times) {
    pieces.push(text.slice(at, offset));
    at = offset + length;
  }
  pieces.push(text.slice(at), ...buttons.flat().map((button) => button.text));
  if (document !== undefined) pieces.push(document.fileName);
  return pieces.filter((piece) => piece.trim() !== "");
}

const NAMED: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', nbsp: "\u00a0" };

/** The page without its markup; elements inside a text leave nothing between its words. */
function textOf(page: string): string {
  const body = page.replace(/<(style|title)[^>]*>[\s\S]*?<\/\1>/g, "").replace(/<[^>]*>/g, "");
  return plain(
    body.replace(/&(?:#(\d+)|(\w+));/g, (whole, code?: string, name = "") =>
      code === undefined ? (NAMED[String(name)] ?? whole) : String.fromCodePoint(Number(code)),
    ),
  );
}

const plain = (text: string): string => text.replace(/\s+/g, " ").trim();
