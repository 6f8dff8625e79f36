// Markdown from outside (reports, what models write) as the same inert pieces as every other text: what is markup becomes marks, what
// would lead away or fetch something becomes text. The parser is loaded when the first such text comes.

import { createRequire } from "node:module";
import type MarkdownIt from "markdown-it";
import type { Token } from "markdown-it";

import { inert } from "../../src/contracts/decision/inert.ts";
import { normalizeLineEnds } from "../../src/contracts/decision/text.ts";
import { Writer, type MarkedText } from "./writer.ts";

export type { MarkedText } from "./writer.ts";

let parser: MarkdownIt | undefined;

function theParser(): MarkdownIt {
  if (parser === undefined) {
    const require = createRequire(import.meta.url);
    const load = require("markdown-it") as typeof MarkdownIt;
    // HTML is text here, and an address that was not written as a link stays one.
    parser = new load({ html: false, linkify: false, typographer: false });
    // Every written link is shown with its address, so nothing has to be kept from becoming one.
    parser.validateLink = () => true;
    // The address as it was written: no punycode, no percent signs that a reader would have to decode.
    parser.normalizeLink = (url) => url;
    parser.normalizeLinkText = (url) => url;
  }
  return parser;
}

/**
 * Text and marks of a Markdown source; `seams` are places between blocks where a part may end. A link is its text with the address
 * behind it, an image its description with the address behind it, HTML what was typed. Characters that hide are made visible. Any
 * text is taken; nothing throws.
 */
export function markdownText(source: string): MarkedText {
  // What hides is made visible before it is parsed: no such character can be a part of the markup.
  const tokens = theParser().parse(inert(normalizeLineEnds(source), { lines: true }), {});
  const writer = new Writer();
  for (const token of tokens) block(writer, token);
  return writer.end();
}

function block(writer: Writer, token: Token): void {
  switch (token.type) {
    case "heading_open":
      writer.begin("block");
      return writer.open("bold");
    case "heading_close":
      return writer.close("bold");
    case "paragraph_open":
      return writer.begin(token.hidden ? "tight" : "block");
    case "inline":
      for (const child of token.children ?? []) inline(writer, child);
      return;
    case "bullet_list_open":
      return writer.list(null);
    case "ordered_list_open":
      return writer.list(Number(token.attrGet("start") ?? 1));
    case "bullet_list_close":
    case "ordered_list_close":
      return writer.endList();
    case "list_item_open":
      return writer.item();
    case "blockquote_open":
      return writer.quote();
    case "blockquote_close":
      return writer.endQuote();
    case "fence":
    case "code_block":
      writer.begin("block");
      return writer.code("pre", token.content.replace(/\n$/, ""));
    case "hr":
      writer.begin("block");
      return writer.add("\u2014\u2014\u2014");
    case "table_open":
      return writer.begin("block");
    case "tr_open":
      return writer.row();
    case "th_open":
      writer.cell();
      return writer.open("bold");
    case "td_open":
      return writer.cell();
    case "th_close":
      return writer.close("bold");
    default:
      // What only closes something has nothing to show.
      if (token.nesting === 0 && token.content !== "") {
        writer.begin("block");
        writer.add(token.content);
      }
  }
}

function inline(writer: Writer, token: Token): void {
  switch (token.type) {
    case "strong_open":
      return writer.open("bold");
    case "strong_close":
      return writer.close("bold");
    case "em_open":
      return writer.open("italic");
    case "em_close":
      return writer.close("italic");
    case "code_inline":
      return writer.code("code", token.content);
    case "softbreak":
    case "hardbreak":
      return writer.breakLine();
    case "link_open":
      return writer.link(token.attrGet("href") ?? "");
    case "link_close":
      return writer.endLink();
    case "image":
      writer.link(token.attrGet("src") ?? "");
      writer.add(token.content);
      return writer.endLink();
    default:
      writer.add(token.content);
  }
}
