/** Apart from the schemas, because the extension needs these names before any schema is loaded. */

/** Types of Pi's custom messages and entries, as they stand in session files. */
export const CUSTOM_TYPES = {
  step: "holdpoint-step",
  decision: "holdpoint-decision",
  settlement: "holdpoint-settlement",
  notification: "holdpoint-notification",
  notice: "holdpoint-notice",
  terminal: "holdpoint-terminal",
  followUp: "holdpoint-follow-up",
} as const;
export type SessionMessageKind = keyof typeof CUSTOM_TYPES;
