// The fixed words around a notification in German.

import { clock } from "../en/time.ts";
import type { Phrase } from "../phrase.ts";

export { notificationGlyph } from "../en/notification.ts";

/** The note on a copy that may not be the first. */
export function notificationRepeat(at: number): Phrase {
  return ["M\u00f6gliche Wiederholung der Nachricht von ", clock(at), "."];
}
