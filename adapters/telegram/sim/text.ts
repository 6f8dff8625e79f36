/**
 * What the server does to a text and its entities before anybody sees it: it refuses broken ones, cleans the text,
 * trims it, and marks links and commands by itself. Written from tdlib/td (misc.cpp clean_input_string,
 * MessageEntity.cpp fix_formatted_text) and tdlib/telegram-bot-api (get_text_entity).
 */
import type { Entity } from "./types.ts";
import { badRequest } from "./api-error.ts";
import { LIMITS } from "./limits.ts";
import { parseHtml } from "./html.ts";
import { parseMarkdown, parseMarkdownV2 } from "./markdown.ts";

export interface Formatted {
  text: string;
  entities: Entity[];
}

/** Types that a caller may set; the server ignores others and finds those of `DETECTED` by itself. */
const SETTABLE = new Set([
  "bold",
  "italic",
  "underline",
  "strikethrough",
  "spoiler",
  "blockquote",
  "expandable_blockquote",
  "code",
  "pre",
  "text_link",
  "text_mention",
  "custom_emoji",
  "date_time",
]);

/** Cannot be written in UTF-8. */
export const LONE_SURROGATE = /\p{Surrogate}/u;

const DETECTED: [type: string, pattern: RegExp][] = [
  ["url", /https?:\/\/(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#][^\s<>"]*[^\s<>".,;:!?)\]])?\/?/giu],
  ["bot_command", /(?<![\w/])\/[A-Za-z0-9_]{1,64}(?:@[A-Za-z0-9_]{3,32})?(?![\w/])/gu],
  ["mention", /(?<![\w@])@[A-Za-z0-9_]{3,32}(?!\w)/gu],
  ["hashtag", /(?<![\w#])#\p{L}[\p{L}\p{N}_]{0,255}/gu],
];

/**
 * The text as people will see it.
 * @param what `text` or `caption`: which limit and which error texts apply
 * @throws ApiError 400 with the server's text
 */
export function formatText(
  raw: string,
  parseMode: string,
  entitiesJson: string | undefined,
  what: "text" | "caption",
): Formatted {
  if (LONE_SURROGATE.test(raw)) throw badRequest("strings must be encoded in UTF-8");
  if (Buffer.byteLength(raw) > LIMITS.rawTextBytes) throw badRequest("text is too long");
  const parsed = parse(raw, parseMode, entitiesJson);
  const formatted = trim(clean(parsed));
  if (what === "text" && formatted.text === "") throw badRequest("text must be non-empty");
  const limit = what === "text" ? LIMITS.text : LIMITS.caption;
  if (formatted.text.length > limit) {
    throw badRequest(what === "text" ? "message is too long" : "message caption is too long");
  }
  return withDetected(formatted);
}

function parse(raw: string, parseMode: string, entitiesJson: string | undefined): Formatted {
  switch (parseMode.toLowerCase()) {
    case "html":
      return parseHtml(raw);
    case "markdown":
      return parseMarkdown(raw);
    case "markdownv2":
      return parseMarkdownV2(raw);
    case "":
    case "none":
      return { text: raw, entities: readEntities(raw, entitiesJson) };
    default:
      throw badRequest("unsupported parse_mode");
  }
}

function readEntities(text: string, json: string | undefined): Entity[] {
  if (json === undefined || json === "") return [];
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch {
    throw badRequest("can't parse entities JSON object");
  }
  if (!Array.isArray(list)) throw badRequest("expected an Array of MessageEntity");
  const entities: Entity[] = [];
  for (const item of list as unknown[]) {
    const entity = readEntity(text, item);
    if (entity) entities.push(entity);
  }
  return entities.toSorted((a, b) => a.offset - b.offset || b.length - a.length);
}

function readEntity(text: string, item: unknown): Entity | undefined {
  if (typeof item !== "object" || item === null) throw badRequest("can't parse MessageEntity: expected an Object");
  const fields = item as Record<string, unknown>;
  const offset = number(fields, "offset");
  const length = number(fields, "length");
  if (typeof fields["type"] !== "string") throw badRequest(`can't parse MessageEntity: Can't find field "type"`);
  if (!SETTABLE.has(fields["type"])) return undefined;
  if (offset < 0) throw badRequest(`receive an entity with incorrect offset: ${offset}`);
  if (length < 0) throw badRequest(`receive an entity with incorrect length: ${length}`);
  if (length === 0) return undefined;
  if (offset >= text.length) throw badRequest(`entity begins after the end of the text at UTF-16 offset ${offset}`);
  if (offset + length > text.length) {
    throw badRequest(`entity ends after the end of the text at UTF-16 offset ${offset + length}`);
  }
  if (splitsPair(text, offset)) {
    throw badRequest(`entity begins in a middle of a UTF-16 symbol at UTF-16 offset ${offset}`);
  }
  if (splitsPair(text, offset + length)) {
    throw badRequest(`entity ends in a middle of a UTF-16 symbol at UTF-16 offset ${offset + length}`);
  }
  return complete({ ...fields, type: fields["type"], offset, length });
}

/** Checks what belongs to the type; undefined for an entity that the server drops. */
function complete(entity: Entity): Entity | undefined {
  const place = { type: entity.type, offset: entity.offset, length: entity.length };
  switch (entity.type) {
    case "text_link":
      return typeof entity.url === "string" && /^(https?|tg|ton):\/\/\S+/u.test(entity.url)
        ? { ...place, url: entity.url }
        : undefined;
    case "pre":
      return typeof entity.language === "string" ? { ...place, language: entity.language } : place;
    case "text_mention":
      return { ...place, user: entity.user };
    case "custom_emoji":
      return typeof entity.custom_emoji_id === "string"
        ? { ...place, custom_emoji_id: entity.custom_emoji_id }
        : undefined;
    case "date_time": {
      if (!Number.isInteger(entity.unix_time)) {
        throw badRequest(`can't parse MessageEntity: Can't find field "unix_time"`);
      }
      const format = entity.date_time_format ?? "";
      if (typeof format !== "string" || !/^(r|w?[dD]?[tT]?)$/u.test(format)) {
        throw badRequest("can't parse MessageEntity: Unsupported date-time format specified");
      }
      return { ...place, unix_time: entity.unix_time as number, date_time_format: format };
    }
    default:
      return place;
  }
}

function number(fields: Record<string, unknown>, name: string): number {
  const value = fields[name];
  if (value === undefined) throw badRequest(`can't parse MessageEntity: Can't find field "${name}"`);
  if (!Number.isInteger(Number(value))) {
    throw badRequest(`can't parse MessageEntity: Field "${name}" must be of type Number`);
  }
  return Number(value);
}

function splitsPair(text: string, at: number): boolean {
  return at > 0 && at < text.length && /[\uD800-\uDBFF]/u.test(text[at - 1] ?? "") && isLow(text[at] ?? "");
}

function isLow(unit: string): boolean {
  return unit >= "\uDC00" && unit <= "\uDFFF";
}

/** Control characters become spaces; CR, U+2028..202E and three combining marks go. Entities move along. */
function clean({ text, entities }: Formatted): Formatted {
  let result = "";
  const moved: number[] = [];
  for (let index = 0; index < text.length; index += 1) {
    moved.push(result.length);
    const code = text.charCodeAt(index);
    if (code === 13 || (code >= 0x2028 && code <= 0x202e)) continue;
    if (code === 0x333 || code === 0x33f || code === 0x30a) continue;
    result += code < 32 && code !== 10 && code !== 9 ? " " : text[index];
  }
  moved.push(result.length);
  const kept = entities.map((entity) => {
    const offset = moved[entity.offset] ?? 0;
    return { ...entity, offset, length: (moved[entity.offset + entity.length] ?? offset) - offset };
  });
  return { text: result, entities: kept.filter((entity) => entity.length > 0) };
}

/** Takes white space off both ends; at the start only up to the first entity. */
function trim({ text, entities }: Formatted): Formatted {
  const end = text.trimEnd().length;
  const clipped = entities
    .map((entity) => ({ ...entity, length: Math.min(entity.offset + entity.length, end) - entity.offset }))
    .filter((entity) => entity.length > 0);
  const blank = text.length - text.trimStart().length;
  const start = Math.min(blank, end, ...clipped.map((entity) => entity.offset));
  return {
    text: text.slice(start, end),
    entities: clipped.map((entity) => ({ ...entity, offset: entity.offset - start })),
  };
}

/** Adds what Telegram finds by itself, outside of code and links. Also used for what people write. */
export function withDetected({ text, entities }: Formatted): Formatted {
  const found = [...entities];
  for (const [type, pattern] of DETECTED) {
    for (const match of text.matchAll(pattern)) {
      const candidate = { type, offset: match.index, length: match[0].length };
      const taken = found.some(
        (entity) =>
          (!SETTABLE.has(entity.type) || ["code", "pre", "text_link", "text_mention"].includes(entity.type)) &&
          entity.offset < candidate.offset + candidate.length &&
          candidate.offset < entity.offset + entity.length,
      );
      if (!taken) found.push(candidate);
    }
  }
  return { text, entities: found.toSorted((a, b) => a.offset - b.offset || b.length - a.length) };
}
