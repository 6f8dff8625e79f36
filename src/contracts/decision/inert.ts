// Text from outside is shown, never obeyed: what a reader could not see or what would reorder the line is made visible.

/**
 * What may hide: control characters, everything that Unicode lets a renderer draw as nothing (zero-width, bidi
 * controls, fillers, tags), line and paragraph separators, interlinear marks, lone surrogates.
 */
const HIDDEN = /[\p{Cc}\p{Default_Ignorable_Code_Point}\p{Zl}\p{Zp}\p{Cs}\ufff9-\ufffb]/u;
/** The three sub-region flags in common use are the only honest users of tag characters. */
const FLAGS =
  "\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}";
const HIDDEN_OR_FLAG = new RegExp(`${FLAGS}|${HIDDEN.source}`, "gu");

const VARIATION = /^[\ufe00-\ufe0f]$/;
// Alternatives instead of one class: in Node 26.10 a class before the end of the text does not find characters above U+FFFF.
const EMOJI_BEFORE = /(?:\p{Extended_Pictographic}|\p{Emoji_Modifier}|\ufe0f)$/u;
const EMOJI_AFTER = /^\p{Extended_Pictographic}/u;
/** Scripts whose spelling needs the joiners U+200C and U+200D. */
const JOINING = new RegExp(
  `[${[
    "Arab",
    "Syrc",
    "Mong",
    "Deva",
    "Beng",
    "Guru",
    "Gujr",
    "Orya",
    "Taml",
    "Telu",
    "Knda",
    "Mlym",
    "Sinh",
    "Khmr",
    "Mymr",
  ]
    .map((script) => `\\p{Script=${script}}`)
    .join("")}]$`,
  "u",
);

/** A reader sees something: not white space, not what is drawn as nothing (U+2800 is a braille cell without dots). */
const SEEN = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a text holds at least one character that a reader can see (control characters count: they are judged elsewhere). */
export function hasVisible(text: string): boolean {
  return SEEN.test(text);
}

/**
 * The text with everything hidden made visible: C0 controls as their pictures (NUL is "␀"), the rest as "⟨U+202E⟩".
 * Joiners inside emoji and in scripts that are spelled with them stay, and so does one variation selector after a
 * visible character. The result is well formed and depends on nothing but the text.
 *
 * @param options.lines keep LF and tab as they are; otherwise they are made visible too, so that one line stays one.
 */
export function inert(text: string, options: { lines?: boolean } = {}): string {
  if (!HIDDEN.test(text)) return text;
  return text.replace(HIDDEN_OR_FLAG, (found: string, offset: number) => {
    if (found.length > 2) return found;
    if (options.lines === true && (found === "\n" || found === "\t")) return found;
    return belongs(found, text, offset) ? found : visible(found);
  });
}

function belongs(found: string, text: string, offset: number): boolean {
  const before = text.slice(Math.max(0, offset - 2), offset);
  if (VARIATION.test(found)) return before !== "" && !HIDDEN.test(before.slice(-1)) && !/\s$/.test(before);
  if (found !== "\u200d" && found !== "\u200c") return false;
  if (found === "\u200d" && EMOJI_BEFORE.test(before)) return EMOJI_AFTER.test(text.slice(offset + 1, offset + 3));
  return JOINING.test(before);
}

function visible(found: string): string {
  const code = found.codePointAt(0) as number;
  if (code < 0x20) return String.fromCharCode(0x2400 + code);
  if (code === 0x7f) return "\u2421";
  return `\u27e8U+${code.toString(16).toUpperCase().padStart(4, "0")}\u27e9`;
}
