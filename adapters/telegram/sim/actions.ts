/** The names of the actions that the control channel carries; anything else is refused there. */
import type { Clock, Faults, People, ServerKnobs } from "./types.ts";

export const PEOPLE_ACTIONS = [
  "addUser",
  "addChat",
  "addPerson",
  "rename",
  "setChatState",
  "addTopic",
  "deleteTopic",
  "tap",
  "tapRaw",
  "tapInline",
  "repeatTap",
  "say",
  "reply",
  "forward",
  "editOwn",
  "post",
  "remove",
] as const satisfies readonly (keyof People)[];

export const FAULT_ACTIONS = ["add", "remove", "clear", "list"] as const satisfies readonly (keyof Faults)[];

export const CLOCK_ACTIONS = ["now", "set", "advance", "run"] as const satisfies readonly (keyof Clock)[];

export const SERVER_ACTIONS = [
  "down",
  "up",
  "restart",
  "jumpUpdateId",
  "repeatUpdate",
  "otherPoller",
] as const satisfies readonly (keyof ServerKnobs)[];
