/**
 * parse_mode Markdown and MarkdownV2, written from tdlib/td (MessageEntity.cpp, parse_markdown and parse_markdown_v2).
 * Enough to accept what is right and to refuse what is wrong with the server's texts.
 */
import type { Entity } from "./types.ts";
import { badRequest } from "./api-error.ts";
import type { Formatted } from "./text.ts";

const fail = (message: string) => badRequest(`can't parse entities: ${message}`);
const bytes = (source: string, index: number) => Buffer.byteLength(source.slice(0, index));

/** The old mode: no nesting, an entity must be closed. */
export function parseMarkdown(source: string): Formatted {
  const entities: Entity[] = [];
  const types: Record<string, string> = { "*": "bold", _: "italic", "`": "code", "```": "pre", "[": "text_link" };
  let text = "";
  let at = 0;
  while (at < source.length) {
    const char = source[at] ?? "";
    if (char === "\\" && "_*`[".includes(source[at + 1] ?? " ")) {
      text += source[at + 1];
      at += 2;
      continue;
    }
    if (!"_*`[".includes(char)) {
      text += char;
      at += 1;
      continue;
    }
    const mark = source.startsWith("```", at) ? "```" : char;
    const endMark = mark === "[" ? "]" : mark;
    const end = source.indexOf(endMark, at + mark.length);
    if (end < 0) throw fail(`Can't find end of the entity starting at byte offset ${bytes(source, at)}`);
    const inner = source.slice(at + mark.length, end);
    const place = { type: types[mark] ?? "bold", offset: text.length, length: inner.length };
    text += inner;
    at = end + endMark.length;
    if (mark !== "[") {
      if (inner !== "") entities.push(place);
      continue;
    }
    const link = /^\(([^)]*)\)/u.exec(source.slice(at));
    if (!link) continue;
    at += link[0].length;
    if (/^(https?|tg):\/\/\S+/u.test(link[1] ?? "")) entities.push({ ...place, url: link[1] ?? "" });
  }
  return { text, entities };
}

const RESERVED = "_*[]()~`>#+-=|{}.!";
const NAMES: Record<string, string> = {
  bold: "Bold",
  italic: "Italic",
  underline: "Underline",
  strikethrough: "Strikethrough",
  spoiler: "Spoiler",
  code: "Code",
  pre: "PreCode",
  text_link: "TextUrl",
  custom_emoji: "CustomEmoji",
  blockquote: "BlockQuote",
};
/** Longest first, so that `__` is not read as `_`. */
const MARKS: [mark: string, type: string][] = [
  ["```", "pre"],
  ["`", "code"],
  ["||", "spoiler"],
  ["__", "underline"],
  ["_", "italic"],
  ["*", "bold"],
  ["~", "strikethrough"],
  ["![", "custom_emoji"],
  ["[", "text_link"],
];

interface Open {
  type: string;
  mark: string;
  offset: number;
  at: number;
}

/** The strict mode: every reserved character outside of an entity must be escaped. */
export function parseMarkdownV2(source: string): Formatted {
  const entities: Entity[] = [];
  const open: Open[] = [];
  let text = "";
  let at = 0;
  const end = ({ type, offset }: Open, more: Partial<Entity> = {}) => {
    if (text.length > offset) entities.push({ type, offset, length: text.length - offset, ...more });
  };

  while (at < source.length) {
    const char = source[at] ?? "";
    const inside = open.at(-1);
    const verbatim = inside?.type === "code" || inside?.type === "pre";
    const next = source.charCodeAt(at + 1);
    if (char === "\\" && next > 0 && next <= 126) {
      text += source[at + 1];
      at += 2;
    } else if (
      inside &&
      !["text_link", "custom_emoji", "blockquote"].includes(inside.type) &&
      source.startsWith(inside.mark, at)
    ) {
      open.pop();
      end(inside);
      at += inside.mark.length;
    } else if (verbatim || (!RESERVED.includes(char) && char !== "\n")) {
      text += char;
      at += 1;
    } else if (char === "]" && (inside?.type === "text_link" || inside?.type === "custom_emoji")) {
      open.pop();
      const link = /^\]\(((?:\\.|[^)\\])*)\)/su.exec(source.slice(at));
      if (!link && source[at + 1] === "(") throw fail(`Can't find end of a URL at byte offset ${bytes(source, at)}`);
      const url = (link?.[1] ?? text.slice(inside.offset)).replaceAll(/\\(.)/gsu, "$1");
      if (inside.type === "custom_emoji") addEmoji(inside, url, end);
      else if (/^(https?|tg|ton):\/\/\S+/u.test(url)) end(inside, { url });
      at += link?.[0].length ?? 1;
    } else if (char === "\n") {
      if (inside?.type === "blockquote" && source[at + 1] !== ">") {
        open.pop();
        end(inside);
      }
      text += "\n";
      at += inside?.type === "blockquote" && source[at + 1] === ">" ? 2 : 1;
    } else if (char === ">" && (at === 0 || source[at - 1] === "\n")) {
      open.push({ type: "blockquote", mark: "", offset: text.length, at });
      at += 1;
    } else {
      const start = MARKS.find(([mark]) => source.startsWith(mark, at));
      if (!start) throw fail(`Character '${char}' is reserved and must be escaped with the preceding '\\'`);
      open.push({ type: start[1], mark: start[0], offset: text.length, at });
      at += start[0].length;
    }
  }
  while (open.at(-1)?.type === "blockquote") end(open.pop() as Open);
  const left = open.at(-1);
  if (left) throw fail(`Can't find end of ${NAMES[left.type]} entity at byte offset ${bytes(source, left.at)}`);
  return { text, entities: entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length) };
}

function addEmoji(open: Open, url: string, end: (open: Open, more: Partial<Entity>) => void): void {
  const time = /^tg:\/\/time\?unix=(\d+)(?:&format=(r|w?[dD]?[tT]?))?$/u.exec(url);
  if (time) {
    end({ ...open, type: "date_time" }, { unix_time: Number(time[1]), date_time_format: time[2] ?? "" });
    return;
  }
  const emoji = /^tg:\/\/emoji\?id=(\d+)$/u.exec(url);
  if (!emoji) throw fail("Custom emoji entity must contain a tg://emoji URL");
  end(open, { custom_emoji_id: emoji[1] ?? "" });
}
