// Rendering for terminals: the whole card at a width, boxed or plain, and the column arithmetic that others need too.
//
// Owns: layout in columns. Must not: read the terminal, print, colour, or choose words of its own.

export { renderTerminalCard, type TerminalOptions } from "./card.ts";
export { cutToColumns, displayWidth, wrapLine } from "./width.ts";
