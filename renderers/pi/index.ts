// Rendering for Pi sessions: messages, cards and the widget as lines of a width.
//
// Owns: what is shown collapsed and expanded, which node rows a widget has. Must not: paint, read Pi, choose words of its own.

export { messageLines, type MessageLine } from "./messages.ts";
export { statusLines } from "./status.ts";
export { scrollBounds, widgetLines } from "./widget.ts";
