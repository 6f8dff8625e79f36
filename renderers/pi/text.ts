// The plain text of what Holdpoint puts into a Pi session: complete and inert. The extension draws the same values for a person at
// the screen.

import type { SessionMessage } from "../../src/contracts/pi/session-message.ts";
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import { inert } from "../../src/contracts/decision/inert.ts";
import { PI_LINK } from "../../src/contracts/limits.ts";
import { renderTerminalCard } from "../terminal/card.ts";
import { answerCommand, cardForPeople, notificationHead, terminalText } from "../text/en.ts";

/** Wide enough that a model sees sentences, narrow enough for any screen. */
const COLUMNS = 100;

export function sessionText(message: SessionMessage): string {
  switch (message.kind) {
    case "step":
      return whole(message.text);
    case "decision": {
      const options = { columns: COLUMNS, plain: true, nameZone: true, answer: { command: answerCommand } };
      return [cardForPeople, "", ...renderTerminalCard(message.card, message.state, options)].join("\n");
    }
    case "settlement":
      return "";
    case "notification": {
      const { runShortId, title, workflowName } = message.notification;
      const said = inert(message.notification.message, { lines: true });
      return `${notificationHead(title ?? workflowName, runShortId)}\n\n${said}`;
    }
    case "notice":
      return inert(message.text, { lines: true });
    case "terminal":
      return terminalText(message);
    case "followUp":
      return whole(message.prompt);
  }
}

/** A long text, inert; what hides in it grows by that, and must still fit into a frame. */
function whole(text: string): string {
  return cutToUnits(inert(text, { lines: true }), PI_LINK.contentChars);
}
