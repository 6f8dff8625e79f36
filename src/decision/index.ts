// Decisions, pure: who may answer, when an answer wins, what the timeout decides, what everyone is told.
//
// Owns: the rules. The store calls them inside its commands, so they are synchronous, cheap and have no clock,
// randomness or storage of their own. Must not: import anything of ours but src/contracts.

export * from "./deadline.ts";
export * from "./judge.ts";
export * from "./people.ts";
export * from "./reminders.ts";
export * from "./reply.ts";
export * from "./resolve.ts";
export * from "./tally.ts";
