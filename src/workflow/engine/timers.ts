/** The engine's sense of time, a port so that a test kit can control it. Only durations; never the hour. */

export interface EngineTimers {
  /** Milliseconds of a monotonic clock. */
  now(): number;
  /** Calls once after `ms`; returns how to call it off. */
  after(ms: number, call: () => void): () => void;
}

/** Node's timers fire at once for anything longer. */
const LONGEST = 2_147_483_647;

export const processTimers: EngineTimers = {
  now: () => performance.now(),
  after(ms, call) {
    let timer: NodeJS.Timeout;
    const arm = (rest: number): void => {
      timer = setTimeout(() => (rest > LONGEST ? arm(rest - LONGEST) : call()), Math.min(rest, LONGEST));
    };
    arm(ms);
    return () => clearTimeout(timer);
  },
};
