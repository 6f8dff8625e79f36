// How fast messages may follow each other in one chat: a leaky bucket whose whole state is one number, so that it is a column.

import { PACE } from "../contracts/limits.ts";

/** Ids of chats with several people are negative. */
function paceOf(place: string): (typeof PACE)["chat" | "group"] {
  return place.startsWith("-") ? PACE.group : PACE.chat;
}

/** The earliest time for the next message. `full` is what `spent` gave last, 0 at first. */
export function mayGoAt(place: string, full: number): number {
  const { atOnce, everyMs } = paceOf(place);
  return full - (atOnce - 1) * everyMs;
}

/** The bucket after a message at `now`. */
export function spent(place: string, full: number, now: number): number {
  return Math.max(full, now) + paceOf(place).everyMs;
}
