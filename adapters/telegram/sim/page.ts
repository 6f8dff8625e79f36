/**
 * `GET /`: the chats as a phone would show them. Plain HTML rendered on the server, no script; every text is escaped.
 * It reloads itself every few seconds, so that a person can watch a card change.
 */
import type { Entity, Ledger, LedgerButton, LedgerChat, LedgerMessage, SimState } from "./types.ts";
import { formatDateTime } from "./date-time.ts";
import type { SideDoor } from "./server.ts";

const STYLE = `
:root { color-scheme: light dark; --back: #dfe7ec; --mine: #fff; --theirs: #e3f7d3; --ink: #17212b; --dim: #6d7f8f; --link: #2079c4; }
@media (prefers-color-scheme: dark) { :root { --back: #0e1621; --mine: #182533; --theirs: #2b5278; --ink: #f1f5f8; --dim: #8397a8; --link: #6ab3f3; } }
* { box-sizing: border-box; }
body { margin: 0; padding: 24px; font: 15px/1.4 system-ui, sans-serif; color: var(--ink); background: color-mix(in srgb, var(--back) 70%, var(--mine)); }
h1 { font-size: 18px; margin: 0 0 16px; }
main { display: flex; flex-wrap: wrap; gap: 24px; align-items: flex-start; }
section { width: 380px; max-width: 100%; border-radius: 24px; overflow: hidden; background: var(--back); box-shadow: 0 2px 12px #0003; }
header { padding: 12px 18px; background: var(--mine); }
header b { display: block; } header small, footer { color: var(--dim); font-size: 12px; }
.talk { padding: 14px; display: flex; flex-direction: column; gap: 8px; min-height: 180px; }
.topic { align-self: center; background: #0003; color: #fff; border-radius: 10px; padding: 1px 10px; font-size: 12px; }
article { max-width: 88%; align-self: flex-start; }
article.person { align-self: flex-end; }
.bubble { background: var(--mine); border-radius: 14px; padding: 8px 12px; overflow-wrap: anywhere; white-space: pre-wrap; }
.person .bubble { background: var(--theirs); }
.who { display: block; font-size: 12px; font-weight: 600; color: var(--link); }
.answered { display: block; border-left: 3px solid var(--link); padding-left: 8px; margin: 2px 0 6px; font-size: 13px; color: var(--dim); max-height: 3em; overflow: hidden; }
.meta { display: block; text-align: right; font-size: 11px; color: var(--dim); }
.file { display: block; margin-bottom: 4px; }
.keys { display: flex; gap: 4px; margin-top: 4px; }
.key { flex: 1; text-align: center; padding: 7px 6px; border-radius: 10px; background: #5b7a92; color: #fff; font-size: 14px; overflow-wrap: anywhere; }
.danger { background: #c23b33; } .success { background: #2d7f36; } .primary { background: #2a6fb5; }
.off { background: #8a97a2; opacity: .75; }
.toast { align-self: center; background: #222d; color: #fff; border-radius: 10px; padding: 6px 12px; font-size: 13px; }
.gone { opacity: .5; } .gone .text { text-decoration: line-through; }
code, pre { font: 13px/1.4 ui-monospace, monospace; background: #8883; border-radius: 4px; padding: 0 3px; margin: 0; white-space: pre-wrap; }
pre { display: block; padding: 6px 8px; } blockquote { margin: 4px 0; padding-left: 10px; border-left: 3px solid var(--link); }
.link, time { color: var(--link); } time { border-bottom: 1px dotted; } .spoiler { background: #888; color: transparent; border-radius: 4px; }
`;

export function pageDoor(ledger: Ledger): SideDoor {
  return (request, response, url) => {
    if (request.method !== "GET" || url.pathname !== "/") return false;
    response.writeHead(200, {
      "Content-Type": "text/html; charset=utf-8",
      "Cache-Control": "no-store",
      "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    });
    response.end(renderPage(ledger.state()));
    return true;
  };
}

function renderPage(state: SimState): string {
  const title = `${state.bot.firstName} (stand-in for Telegram)`;
  const chats = state.chats.map((chat) => renderChat(state, chat)).join("");
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="3"><title>${escape(title)}</title><style>${STYLE}</style></head>
<body><h1>${escape(title)}</h1><main>${chats || "<p>No chats yet.</p>"}</main></body></html>`;
}

function renderChat(state: SimState, chat: LedgerChat): string {
  const kind = chat.forum ? "forum" : chat.type;
  const condition = chat.state && chat.state !== "open" ? ` · ${chat.state}` : "";
  let thread: number | undefined;
  const talk = chat.messages.map((message) => {
    const moved = message.threadId !== thread;
    thread = message.threadId;
    const topic =
      chat.topics?.find((known) => known.id === thread)?.name ?? (thread === undefined ? "General" : `Topic ${thread}`);
    return (
      (moved && chat.forum ? `<span class="topic">${escape(topic)}</span>` : "") + renderMessage(state, chat, message)
    );
  });
  return `<section><header><b>${escape(chatName(state, chat))}</b><small>${kind}${condition}</small></header>
<div class="talk">${talk.join("") || '<span class="topic">No messages</span>'}</div></section>`;
}

function renderMessage(state: SimState, chat: LedgerChat, message: LedgerMessage): string {
  const mine = message.from === "bot";
  const answered = message.replyTo === undefined ? undefined : chat.messages.find(({ id }) => id === message.replyTo);
  const toasts = state.toasts.filter((toast) => toast.chatId === chat.id && toast.messageId === message.id);
  const notes = [
    ...(message.silent ? ["silent"] : []),
    ...(message.deleted ? ["deleted"] : []),
    ...(message.forwardedFrom ? ["forwarded"] : []),
    ...(message.forceReply ? ["asks for a reply"] : []),
    ...(message.editedAt === undefined ? [] : ["edited"]),
    clockTime(message.editedAt ?? message.at),
  ];
  return `<article class="${mine ? "bot" : "person"}${message.deleted ? " gone" : ""}"><div class="bubble">${
    `<span class="who">${escape(mine ? state.bot.firstName : personName(state, message.from))}</span>` +
    (answered ? `<span class="answered">${escape(answered.text)}</span>` : "") +
    (message.document
      ? `<span class="file">📄 ${escape(message.document.fileName)} · ${message.document.size} bytes</span>`
      : "") +
    `<span class="text">${renderText(message.text, message.entities, state.now)}</span>` +
    `<span class="meta">${escape(notes.join(" · "))} · #${message.id}</span>`
  }</div>${message.buttons.map(renderRow).join("")}</article>${toasts
    .map((toast) => `<span class="toast">${escape(`To ${personName(state, toast.userId)}: ${toast.text}`)}</span>`)
    .join("")}`;
}

function renderRow(row: LedgerButton[]): string {
  const keys = row.map((button) => {
    const look = button.disabled ? "off" : (button.style ?? "");
    const mark = button.url === undefined ? (button.copyText === undefined ? "" : " ⧉") : " ↗";
    return `<span class="key ${look}">${escape(button.text + mark)}</span>`;
  });
  return `<div class="keys">${keys.join("")}</div>`;
}

const ELEMENTS: Record<string, [open: string, close: string]> = {
  bold: ["<b>", "</b>"],
  italic: ["<i>", "</i>"],
  underline: ["<u>", "</u>"],
  strikethrough: ["<s>", "</s>"],
  spoiler: ['<span class="spoiler">', "</span>"],
  code: ["<code>", "</code>"],
  pre: ["<pre>", "</pre>"],
  blockquote: ["<blockquote>", "</blockquote>"],
  expandable_blockquote: ["<blockquote>", "</blockquote>"],
};

/** What a client shows in place of a date_time's text; undefined where the text stays. */
function timeOf(entity: Entity, now: number): string | undefined {
  if (entity.type !== "date_time" || entity.unix_time === undefined || !entity.date_time_format) return undefined;
  return formatDateTime(entity.unix_time * 1000, entity.date_time_format, now);
}

/** Text with its entities drawn; `now` is for relative times. Entities that overlap without nesting are cut at the edge of the outer one. */
export function renderText(text: string, entities: Entity[], now: number, from = 0, to = text.length): string {
  let html = "";
  let at = from;
  const inside = entities.filter((entity) => entity.offset >= from && entity.offset < to);
  while (inside.length > 0) {
    const entity = inside.shift() as Entity;
    if (entity.offset < at) continue;
    const end = Math.min(entity.offset + entity.length, to);
    const [open, close] = elementOf(entity);
    const inner = inside.filter((other) => other.offset < end);
    const shown = timeOf(entity, now);
    const body = shown === undefined ? renderText(text, inner, now, entity.offset, end) : escape(shown);
    html += escape(text.slice(at, entity.offset)) + open + body + close;
    at = end;
  }
  return html + escape(text.slice(at, to));
}

/** Links are drawn, never clickable: the page shows what untrusted text looks like and goes nowhere. */
function elementOf(entity: Entity): [open: string, close: string] {
  if (entity.type === "date_time" && entity.unix_time !== undefined) {
    const time = new Date(entity.unix_time * 1000);
    const iso = Number.isNaN(time.getTime()) ? "" : time.toISOString();
    return [`<time datetime="${iso}" title="${iso}">`, `</time>`];
  }
  const simple = ELEMENTS[entity.type];
  if (simple) return simple;
  return [`<span class="link" title="${escape(entity.url ?? entity.type)}">`, "</span>"];
}

function chatName(state: SimState, chat: LedgerChat): string {
  return chat.type === "private" ? personName(state, chat.id) : (chat.title ?? `Chat ${chat.id}`);
}

function personName(state: SimState, id: number | "bot"): string {
  const person = state.users.find((known) => known.id === id);
  if (person) return [person.firstName, person.lastName].filter(Boolean).join(" ");
  return state.chats.find((chat) => chat.id === id)?.title ?? String(id);
}

function clockTime(ms: number): string {
  return new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" }).format(ms);
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/gu, (char) => `&#${char.charCodeAt(0)};`);
}
