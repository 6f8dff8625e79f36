/**
 * Draws messages and entries of ours in Pi's terminal. What stands in a session file is foreign: a message that cannot be drawn
 * is left to Pi's own drawing of its plain text, and no error leaves a component, which would end Pi.
 */
import { messageLines, type MessageLine } from "../../../renderers/pi/index.ts";
import { CUSTOM_TYPES } from "../../../src/contracts/pi/custom-types.ts";
import type { Cards } from "./cards.ts";
import { detailsOf } from "./hidden-id.ts";
import type { PiApi, PiComponent, PiTheme } from "./pi-api.ts";

type Message = NonNullable<ReturnType<typeof detailsOf>>["message"];

const COLOURS: Readonly<Record<MessageLine["role"], string | undefined>> = {
  title: "accent",
  text: undefined,
  dim: "muted",
};

export function registerMessages(pi: PiApi, cards: Cards): void {
  for (const customType of Object.values(CUSTOM_TYPES)) {
    pi.registerMessageRenderer(customType, ({ details }, { expanded }, theme) => draw(details, cards, expanded, theme));
    pi.registerEntryRenderer(customType, ({ data }, { expanded }, theme) => draw(data, cards, expanded, theme));
  }
}

function draw(details: unknown, cards: Cards, expanded: boolean, theme: PiTheme): PiComponent | undefined {
  const message = detailsOf(details)?.message;
  if (message === undefined) return undefined;
  // Tried now, so that what cannot be drawn is Pi's to draw.
  linesOf(message, cards, expanded, 80);
  return {
    render: (width) => {
      try {
        return linesOf(message, cards, expanded, width).map((line) => paint(line, theme));
      } catch {
        return [];
      }
    },
    invalidate: () => {},
  };
}

function linesOf(message: Message, cards: Cards, expanded: boolean, columns: number): MessageLine[] {
  const state = message.kind === "decision" ? cards.state(message.card.requestId) : undefined;
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return messageLines(message, { columns, expanded, state, now: Date.now(), timeZone });
}

function paint({ role, text }: MessageLine, theme: PiTheme): string {
  const colour = COLOURS[role];
  return colour === undefined ? text : theme.fg(colour, text);
}
