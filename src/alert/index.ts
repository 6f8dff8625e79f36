// Alerts: what is told, edited, named once, reminded or left in peace, and how fast messages may follow each other.
//
// Owns: the states of an alert and their order. Must not: know chats, messages or words, or do I/O.

export { mayGoAt, spent } from "./pace.ts";
export {
  acknowledged,
  due,
  isLive,
  nextAt,
  progressEvery,
  raised,
  recovered,
  snoozed,
  type AlertState,
  type Report,
  type Said,
} from "./rules.ts";
