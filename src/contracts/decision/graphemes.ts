// Where a text may be cut: never inside what a reader sees as one character, never inside a surrogate pair.

let made: Intl.Segmenter | undefined;

/** Made when it is first needed: it costs more than the rest of this folder takes to load, and most processes never cut a text. */
function segmenter(): Intl.Segmenter {
  return (made ??= new Intl.Segmenter("en", { granularity: "grapheme" }));
}

/**
 * The last place in `text` at or before `end` where a grapheme begins, seen from `start` (itself such a place).
 * A single grapheme longer than the space falls back to the last code point boundary, so that cutting always
 * advances (if the space is at least two units).
 */
export function graphemeFloor(text: string, start: number, end: number): number {
  if (end >= text.length) return text.length;
  // Text after the cut decides only whether a boundary stands right there; a little of it is enough.
  const window = text.slice(start, end + 8);
  const segment = segmenter()
    .segment(window)
    .containing(end - start);
  const floor = start + (segment?.index ?? 0);
  return floor > start ? floor : codePointFloor(text, end);
}

/** The last place at or before `end` that is not inside a surrogate pair. */
export function codePointFloor(text: string, end: number): number {
  const unit = text.charCodeAt(end);
  return unit >= 0xdc00 && unit <= 0xdfff ? end - 1 : end;
}

/** Units that are segmented at once: the platform's segmenter takes time in the square of the text's length. */
const WINDOW = 1_024;

/** The text's graphemes in order. One of more than 1,024 units (a flood of combining marks) comes in pieces. */
export function* graphemesOf(text: string): Generator<string> {
  for (let start = 0; start < text.length;) {
    const end = start + WINDOW >= text.length ? text.length : graphemeFloor(text, start, start + WINDOW);
    for (const { segment } of segmenter().segment(text.slice(start, end))) yield segment;
    start = end;
  }
}

/** The text cut to at most `units` UTF-16 units, ending in "…" where something was cut off. */
export function cutToUnits(text: string, units: number): string {
  if (text.length <= units) return text;
  if (units < 1) return "";
  return `${text.slice(0, units < 3 ? 0 : graphemeFloor(text, 0, units - 1)).trimEnd()}\u2026`;
}
