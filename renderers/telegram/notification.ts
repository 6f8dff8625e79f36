// A notification as Telegram messages: what the run said, under its name; nothing to press.

import { statusTitle } from "../../src/contracts/decision/body.ts";
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import { inert } from "../../src/contracts/decision/inert.ts";
import { cutBody } from "../../src/contracts/decision/parts.ts";
import { DECISION } from "../../src/contracts/limits.ts";
import type { NotificationModel } from "../../src/contracts/notification.ts";
import type { Part } from "../part.ts";
import { markdownText, type MarkedText } from "../markdown/index.ts";
import { wordsIn } from "../text/index.ts";
import type { Clock } from "../text/phrase.ts";
import { RichText } from "./rich.ts";

/** The messages of a notification, in order: one unless its text is long. The same notification gives the same parts. */
export function renderNotification(notification: NotificationModel, clock: Clock): Part[] {
  const { notificationGlyph, notificationRepeat, originLine, partOf } = wordsIn(clock.language);
  const { format, level, message, possibleRepeatOf, runShortId, severity, title, workflowName } = notification;
  const written = format === "markdown" ? markdownText(message) : inertText(message);
  // Making hidden characters visible may lengthen a text; what is beyond a card's length is cut with a mark.
  const text = cutToUnits(written.text, DECISION.presentationUnits);
  const pieces = cutBody({ text, marks: [], seams: written.seams.filter((at) => at < text.length) });
  return pieces.map((piece, at) => {
    const rich = new RichText();
    rich.add(`${notificationGlyph(level, severity)} `).add(statusTitle(title ?? workflowName), "bold");
    if (pieces.length > 1) rich.add(` \u00b7 ${partOf(at + 1, pieces.length)}`);
    rich.add("\n");
    const body = rich.piece({ text, marks: written.marks }, piece);
    if (at === pieces.length - 1) {
      rich.add("\n\n");
      if (possibleRepeatOf !== undefined) rich.phrase(notificationRepeat(possibleRepeatOf), clock).add("\n");
      rich.add(originLine(workflowName, runShortId));
    }
    return {
      text: rich.text,
      entities: rich.entities,
      buttons: [],
      index: at + 1,
      of: pieces.length,
      body,
    };
  });
}

function inertText(message: string): MarkedText {
  return { text: inert(message, { lines: true }), marks: [], seams: [] };
}
