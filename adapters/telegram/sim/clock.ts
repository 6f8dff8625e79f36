/**
 * The stand-in's time: real by default, or stopped and moved by a test. It decides dates and lifetimes (queues, answer
 * and delete windows, rates). What happens on the wire (long polls, slow answers) always takes real time.
 */
import type { Clock } from "./types.ts";

export function createClock(frozenAt: number | undefined, onChange: () => void): Clock {
  let frozen = frozenAt;
  let offset = 0;
  const now = () => frozen ?? Date.now() + offset;
  return {
    now,
    set(ms) {
      frozen = ms;
      onChange();
    },
    advance(ms) {
      if (frozen === undefined) offset += ms;
      else frozen += ms;
      onChange();
    },
    run() {
      if (frozen !== undefined) offset = frozen - Date.now();
      frozen = undefined;
      onChange();
    },
  };
}
