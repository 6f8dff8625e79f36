// Rendering for Pi sessions: messages, cards and the widget as lines of a width, and messages as plain text for a model.
//
// Owns: what is shown collapsed and expanded, which node rows a widget has. Must not: paint, read Pi, choose words of its own.

export { messageLines, type MessageLine } from "./messages.ts";
export { statusLines } from "../text/en/run-status.ts";
export { sessionText } from "./text.ts";
export { scrollBounds, widgetLines } from "./widget.ts";
