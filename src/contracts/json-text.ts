/**
 * JSON that people wrote: parsed as JSON.parse does, but a key that stands twice in one object is an error. JSON.parse lets
 * the last one win, so that half of what was written would be dropped without a word.
 */
import { messageOf } from "./errors.ts";

/**
 * Parses a text. A byte order mark at its beginning, which some editors and shells write, is left out.
 *
 * @throws Error whose message tells what is wrong, with line and column (both from 1) where the place is known.
 */
export function parseJsonText(given: string): unknown {
  const text = given.startsWith("\ufeff") ? given.slice(1) : given;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new Error(withLine(messageOf(error), text), { cause: error });
  }
  const twice = repeatedKey(text);
  if (twice !== undefined) {
    throw new Error(
      `the key ${JSON.stringify(twice.key)} stands twice in one object, the second time at ${place(text, twice.at)}`,
    );
  }
  return value;
}

/** The message of the parser with line and column where it tells a position only. */
function withLine(message: string, text: string): string {
  const position = / at position (\d+)$/.exec(message)?.[1];
  return position === undefined ? message : `${message} (${place(text, Number(position))})`;
}

function place(text: string, at: number): string {
  const before = text.slice(0, at).split("\n");
  return `line ${before.length} column ${(before.at(-1) ?? "").length + 1}`;
}

/** The first key of valid JSON that its object has already, with its position. */
function repeatedKey(text: string): { key: string; at: number } | undefined {
  const open: (Set<string> | null)[] = [];
  // Strings with the colon that makes them keys, and brackets; what lies between does not matter in valid JSON.
  const tokens = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}[\]]/g;
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    const [word, colon] = token;
    if (word === "{") open.push(new Set());
    else if (word === "[") open.push(null);
    else if (word === "}" || word === "]") open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(word.slice(0, -colon.length)) as string;
      const keys = open.at(-1);
      if (keys?.has(key) === true) return { key, at: token.index };
      keys?.add(key);
    }
  }
  return undefined;
}
