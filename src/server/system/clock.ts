/** The system's clock. Long sleeps are cut, so that a clock step or a suspended machine is noticed. */
import { TIMER } from "../../contracts/limits.ts";
import type { Clock, Timer } from "../ports.ts";

export const systemClock: Clock = {
  now: () => Date.now(),
  timer(at, wake): Timer {
    const handle = setTimeout(wake, Math.max(0, Math.min(at - Date.now(), TIMER.maxSleepMs)));
    return { cancel: () => clearTimeout(handle) };
  },
};
