// The fixed words around a notification in English.

import type { Severity } from "../../../src/contracts/alert.ts";
import type { NotificationModel } from "../../../src/contracts/notification.ts";
import type { Phrase } from "../phrase.ts";
import { clock } from "./time.ts";

export function notificationGlyph(level: NotificationModel["level"], severity: Severity = "info"): string {
  if (severity !== "info") return severity === "critical" ? "\u{1F534}" : "\u26a0\ufe0f";
  return level === "final" ? "\u{1F3C1}" : "\u2139\ufe0f";
}

/** The note on a copy that may not be the first. */
export function notificationRepeat(at: number): Phrase {
  return ["Possible repeat of the message from ", clock(at), "."];
}
