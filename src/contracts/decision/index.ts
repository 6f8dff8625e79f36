// Human decisions as data: choices, presentation, request, answer, resolution, card and reply codes, with their
// schemas, limits, normalization and digests. One implementation for every process.
//
// Owns: what is valid, how it is written, what an answer is bound to, how a body is laid out and cut into parts.
// Must not: judge answers (src/decision), choose words (renderers/text), read clocks, store or send anything.

export * from "./answer.ts";
export * from "./body.ts";
export * from "./card.ts";
export * from "./choices.ts";
export * from "./codes.ts";
export * from "./graphemes.ts";
export * from "./inert.ts";
export * from "./input.ts";
export * from "./parts.ts";
export * from "./policy.ts";
export * from "./presentation.ts";
export * from "./request.ts";
