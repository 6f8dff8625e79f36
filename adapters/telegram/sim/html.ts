/** parse_mode HTML, written from tdlib/td (MessageEntity.cpp, parse_html). Offsets in errors are bytes, as there. */
import type { Entity } from "./types.ts";
import { badRequest } from "./api-error.ts";
import type { Formatted } from "./text.ts";

const TAGS: Record<string, string> = {
  a: "text_link",
  b: "bold",
  strong: "bold",
  i: "italic",
  em: "italic",
  u: "underline",
  ins: "underline",
  s: "strikethrough",
  strike: "strikethrough",
  del: "strikethrough",
  span: "spoiler",
  "tg-spoiler": "spoiler",
  "tg-emoji": "custom_emoji",
  "tg-time": "date_time",
  code: "code",
  pre: "pre",
  blockquote: "blockquote",
};

const NAMED: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"' };

interface Open {
  tag: string;
  attributes: Record<string, string>;
  offset: number;
}

export function parseHtml(source: string): Formatted {
  const entities: Entity[] = [];
  const open: Open[] = [];
  let text = "";
  let at = 0;
  const fail = (message: string) => badRequest(`can't parse entities: ${message}`);
  const byte = (index: number) => Buffer.byteLength(source.slice(0, index));

  while (at < source.length) {
    const rest = source.slice(at);
    if (source[at] === "&") {
      const [whole, decoded] = decode(rest);
      text += decoded;
      at += whole;
    } else if (rest.startsWith("</")) {
      const last = open.pop();
      if (!last) throw fail(`Unexpected end tag at byte offset ${byte(at)}`);
      const match = /^<\/\s*([^\s>]*)\s*>/u.exec(rest);
      if (!match) throw fail(`Unclosed end tag at byte offset ${byte(at)}`);
      const name = (match[1] ?? "").toLowerCase();
      if (name !== "" && name !== last.tag) {
        throw fail(`Unmatched end tag at byte offset ${byte(at)}, expected "</${last.tag}>", found "</${name}>"`);
      }
      const entity = close(last, text);
      if (entity) entities.push(entity);
      at += match[0].length;
    } else if (source[at] === "<") {
      const match = /^<([^\s>]*)((?:\s+[^\s=>]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[\w.-]+))?)*)\s*>/u.exec(rest);
      const tag = (match?.[1] ?? /^<([^\s>]*)/u.exec(rest)?.[1] ?? "").toLowerCase();
      if (!match && !rest.includes(">")) throw fail(`Unclosed start tag at byte offset ${byte(at)}`);
      if (!Object.hasOwn(TAGS, tag)) throw fail(`Unsupported start tag "${tag}" at byte offset ${byte(at)}`);
      if (!match) throw fail(`Unclosed start tag at byte offset ${byte(at)}`);
      const attributes: Record<string, string> = {};
      for (const [, name = "", double, single, bare] of (match[2] ?? "").matchAll(
        /([^\s=>]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([\w.-]+)))?/gu,
      )) {
        attributes[name.toLowerCase()] = decodeAll(double ?? single ?? bare ?? "");
      }
      if (tag === "span" && attributes["class"] !== "tg-spoiler") {
        throw fail(`Tag "span" must have class "tg-spoiler" at byte offset ${byte(at)}`);
      }
      open.push({ tag, attributes, offset: text.length });
      at += match[0].length;
    } else {
      text += source[at];
      at += 1;
    }
  }
  const unclosed = open.at(-1);
  if (unclosed) throw fail(`Can't find end tag corresponding to start tag "${unclosed.tag}"`);
  return { text, entities: entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length) };
}

function close({ tag, attributes, offset }: Open, text: string): Entity | undefined {
  const type = TAGS[tag] ?? "";
  const length = text.length - offset;
  if (length === 0) return undefined;
  const place = { type, offset, length };
  if (tag === "a") {
    const url = attributes["href"] ?? text.slice(offset);
    return /^(https?|tg|ton):\/\/\S+/u.test(url) ? { ...place, url } : undefined;
  }
  if (tag === "tg-emoji") return { ...place, custom_emoji_id: attributes["emoji-id"] ?? "" };
  if (tag === "tg-time") {
    return { ...place, unix_time: Number(attributes["unix"]), date_time_format: attributes["format"] ?? "" };
  }
  if (tag === "blockquote" && "expandable" in attributes) return { ...place, type: "expandable_blockquote" };
  return place;
}

function decode(rest: string): [length: number, text: string] {
  const match = /^&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|(lt|gt|amp|quot));?/iu.exec(rest);
  if (!match) return [1, "&"];
  if (match[3]) return [match[0].length, NAMED[match[3].toLowerCase()] ?? "&"];
  const code = match[1] ? Number.parseInt(match[1], 16) : Number(match[2]);
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) return [1, "&"];
  return [match[0].length, String.fromCodePoint(code)];
}

function decodeAll(value: string): string {
  return value.replaceAll(/&[^&]*/gu, (part) => {
    const [length, text] = decode(part);
    return text + part.slice(length);
  });
}
