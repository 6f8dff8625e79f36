/**
 * The shapes that the stand-in shows to its users: what it is started with, what it remembers, and which faults it
 * knows. Everything here is plain JSON, because the same shapes travel over the control channel to other processes.
 * Times are Unix milliseconds of the stand-in's clock unless a field says otherwise; ids are Telegram's.
 */

export interface SimUser {
  id: number;
  firstName: string;
  lastName?: string;
  username?: string;
  languageCode?: string;
}

export type ChatType = "private" | "group" | "supergroup" | "channel";

/** What keeps the bot from writing to a chat. `neverStarted`: a person whom the bot has met but who never wrote to it. */
export type ChatState =
  | "open"
  | "blocked"
  | "deactivated"
  | "neverStarted"
  | "kicked"
  | "notMember"
  | "noRights"
  | "migrated";

export interface SimTopic {
  id: number;
  name: string;
  deleted?: boolean;
}

export interface SimChat {
  /** A private chat has the id of its person. */
  id: number;
  type: ChatType;
  title?: string;
  username?: string;
  /** A supergroup with topics. General has no id and is always there. */
  forum?: boolean;
  topics?: SimTopic[];
  state?: ChatState;
  /** With state `migrated`: the supergroup that took over. */
  migratedTo?: number;
  /** An admin bot sees every message and may delete other people's. Default false. */
  botIsAdmin?: boolean;
}

export interface SimOptions {
  /** Default: a fixed, harmless one. */
  token?: string;
  bot?: { id?: number; firstName?: string; username?: string };
  /** Default 0: any free port. Always on 127.0.0.1. */
  port?: number;
  users?: SimUser[];
  chats?: SimChat[];
  faults?: FaultSpec[];
  /** Telegram's rate limits: 1 message a second per chat, 20 a minute per group. Default off. */
  floodControl?: boolean;
  /** In groups the bot sees only commands, mentions and replies to itself. Default true, as for a new bot. */
  privacyMode?: boolean;
  /** Freezes the clock at this time. Default: real time. */
  now?: number;
  /** The id of the first update. Default 500000001. */
  firstUpdateId?: number;
  /** Holds of the poll rules in real milliseconds; the official server's are the defaults (3000, 3000, 500). */
  pollRules?: { conflictDelayMs?: number; sameOffsetHoldMs?: number; sameOffsetLimitMs?: number };
  /** Serves `/_sim/...` on the Bot API port. Default true. */
  control?: boolean;
}

/** A message entity as the Bot API writes it: offsets and lengths in UTF-16 units. */
export interface Entity {
  type: string;
  offset: number;
  length: number;
  url?: string;
  language?: string;
  custom_emoji_id?: string;
  user?: unknown;
  unix_time?: number;
  date_time_format?: string;
}

export interface LedgerButton {
  text: string;
  style?: "danger" | "success" | "primary";
  disabled?: true;
  /** callback_data */
  data?: string;
  url?: string;
  copyText?: string;
  /** Any other kind of button, by its field name. */
  other?: string;
}

/** One way a message looked, oldest first in `LedgerMessage.versions`. */
export interface MessageVersion {
  at: number;
  text: string;
  entities: Entity[];
  buttons: LedgerButton[][];
}

export interface LedgerMessage extends MessageVersion {
  chatId: number;
  id: number;
  /** Who wrote it: the bot, or a person's user id, or a chat id for channel posts and `sender_chat`. */
  from: "bot" | number;
  /** True for a message that made no sound. */
  silent: boolean;
  threadId?: number;
  replyTo?: number;
  /** The reply prompt that the message opens at the reader. `only`: ForceReply, not editable. `keyboard`: with buttons. */
  forceReply?: "only" | "keyboard";
  placeholder?: string;
  /** A custom keyboard or its removal: the message cannot be edited. */
  otherMarkup?: boolean;
  linkPreview: boolean;
  protected: boolean;
  document?: LedgerDocument;
  forwardedFrom?: { chatId: number; messageId: number };
  reactions: string[];
  deleted: boolean;
  deletedAt?: number;
  editedAt?: number;
  /** All looks before the present one. */
  versions: MessageVersion[];
}

export interface LedgerDocument {
  fileId: string;
  fileName: string;
  mimeType: string;
  /** Bytes. */
  size: number;
  sha256: string;
  /** The content, when it is UTF-8 text of at most 256 KiB. */
  text?: string;
}

export interface LedgerChat extends SimChat {
  messages: LedgerMessage[];
}

/** One press of a button. A person sees a spinner while `answer` is missing. */
export interface LedgerTap {
  callbackId: string;
  userId: number;
  chatId?: number;
  messageId?: number;
  inlineMessageId?: string;
  data: string;
  at: number;
  updateId: number | null;
  answer?: { at: number; text: string; alert: boolean };
}

/** A text that answerCallbackQuery showed to one person. */
export interface LedgerToast {
  callbackId: string;
  userId: number;
  chatId?: number;
  messageId?: number;
  text: string;
  alert: boolean;
  at: number;
}

/** One request to the Bot API, without the token. */
export interface LedgerRequest {
  seq: number;
  method: string;
  http: "GET" | "POST";
  /** How the arguments came: query, json, urlencoded, multipart, none. */
  encoding: string;
  /** Arguments as the official server holds them: every value is a string (JSON text for objects). */
  params: Record<string, string>;
  at: number;
  /** Missing until the request is over. `fault` is the id of the fault that touched it. */
  verdict?: {
    /** HTTP status; 0 when nothing was sent. */
    status: number;
    ok: boolean;
    description?: string;
    /** What happened on the wire. */
    wire: "answered" | "rst" | "fin" | "half" | "hung" | "client gone";
    /** Whether the method ran, that is, whether the ledger may have changed. */
    executed: boolean;
    at: number;
  };
  fault?: string;
  /** The caller's connection ended before the answer. */
  callerGone?: true;
  /** getUpdates: the ids handed out by this answer. */
  updateIds?: number[];
}

export interface LedgerCommands {
  scope: unknown;
  languageCode: string;
  commands: { command: string; description: string }[];
}

export interface PendingUpdate {
  updateId: number;
  /** `message`, `callback_query`, ... */
  type: string;
  expiresAt: number;
}

/** Everything that the stand-in remembers, as JSON. */
export interface SimState {
  /** Grows with every change. */
  version: number;
  now: number;
  url: string;
  bot: { id: number; firstName: string; username: string };
  users: SimUser[];
  chats: LedgerChat[];
  taps: LedgerTap[];
  toasts: LedgerToast[];
  commands: LedgerCommands[];
  requests: LedgerRequest[];
  pendingUpdates: PendingUpdate[];
  /** Updates that ran out in the queue without being handed over for good. */
  expiredUpdates: PendingUpdate[];
  /** True while a long poll is waiting for updates. */
  polling: boolean;
  allowedUpdates: string[] | null;
  webhookUrl: string;
  faults: ActiveFault[];
  /** Requests that followed a redirect to the other host. */
  redirectHits: { http: string; path: string; bytes: number }[];
}

/** `before`: the message never reaches the ledger. `after`: it does, and the caller does not learn of it. */
export type FaultMoment = "before" | "after";

export type FaultKind =
  /** 429 with `Retry-After` and `parameters.retry_after`; `html`: the same status with a proxy's page. Seconds. */
  | { kind: "tooMany"; retryAfter: number; html?: boolean }
  /** As if a second instance polled. */
  | { kind: "conflict" }
  /** The connection ends: reset, plain end, or half a body. */
  | { kind: "drop"; when: FaultMoment; how: "rst" | "fin" | "half" }
  /** 5xx; `json` (default) says "Internal Server Error: restart", `html` is a proxy's page. */
  | { kind: "serverError"; status: number; when: FaultMoment; body?: "json" | "html" }
  /** `answer`: ledger now, answer late. `ledger`: both late, even if the caller has gone. No `ms`: until removed. */
  | { kind: "slow"; what: "answer" | "ledger"; ms?: number }
  /** HTTP 200 (`noOk`: 200 with `{"message":...}`) that is not a Bot API answer. `extra`: good, with unknown fields. */
  | { kind: "malformed"; body: "empty" | "null" | "okOnly" | "html" | "noOk" | "extra"; when?: FaultMoment }
  /** 302 to another loopback port that counts what arrives. */
  | { kind: "redirect" }
  /** Any definite refusal. */
  | { kind: "reject"; status: number; description: string; parameters?: Record<string, unknown> }
  /** Accepted and never answered; the connection is cut when the fault is removed. Default moment `before`. */
  | { kind: "hang"; when?: FaultMoment };

/** A fault and the requests that it touches. The first matching fault wins. */
export type FaultSpec = FaultKind & {
  /** Method name(s), any case. Default: all. */
  method?: string | string[];
  /** Only requests about this chat (for answerCallbackQuery the chat of the tap). Default: all. */
  chat?: number;
  /** How many requests it touches. Default 1. */
  times?: number | "always";
  /** How many matching requests pass untouched first. Default 0. */
  skip?: number;
};

export interface ActiveFault {
  id: string;
  spec: FaultSpec;
  /** Requests touched so far. */
  hits: number;
  /** False when `times` is used up. */
  active: boolean;
}

export type * from "./interface.ts";
