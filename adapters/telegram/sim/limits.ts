/**
 * The official server's own numbers. They are kept here and not shared with the product's limits on purpose: a wrong
 * number on our side must be refused by the stand-in, not repeated by it. Sources: Bot API reference; sources of
 * tdlib/telegram-bot-api and tdlib/td.
 */
export const LIMITS = {
  /** UTF-16 units after parsing (the safe reading of the reference). */
  text: 4096,
  /** Bytes before parsing. */
  rawTextBytes: 32_768,
  caption: 1024,
  callbackDataBytes: 64,
  callbackAnswer: 200,
  copyText: 256,
  placeholder: 64,
  quote: 1024,
  /** Folk figure; the server's own limit is not public. */
  buttons: 100,
  uploadBytes: 50 * 1024 * 1024,
  pollSeconds: 50,
  pollUpdates: 100,
  commands: 100,
  command: 32,
  commandDescription: 256,
  /** Milliseconds. */
  callbackQueueMs: 150_000,
  messageQueueMs: 86_400_000,
  /** The real window is not documented; reports lie between 10 and 20 s. */
  callbackAnswerMs: 15_000,
  deleteMs: 48 * 3_600_000,
  chatFloodMs: 1000,
  groupFloodPerMinute: 20,
} as const;

/** Telegram's fixed id for admins who write anonymously. */
export const ANONYMOUS_ADMIN_ID = 1_087_968_824;
/** Telegram's fixed id for people who write on behalf of a channel. */
export const CHANNEL_BOT_ID = 136_817_688;
