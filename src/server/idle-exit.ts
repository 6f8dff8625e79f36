/**
 * A server that a client started on demand leaves again when it has long had nothing to do. One that was started by hand, or
 * that has a channel to listen to, never leaves by itself.
 */
import { SERVER } from "../contracts/limits.ts";
import type { Clock, Timer } from "./ports.ts";

/** Calls `leave` once `busy` was false at every look for the idle time; looks once a minute. Returns the end of watching. */
export function watchIdle(clock: Clock, busy: () => boolean, leave: () => void): () => void {
  let idleSince = clock.now();
  let timer: Timer;
  const arm = (): void => {
    timer = clock.timer(clock.now() + SERVER.idleLookMs, look);
  };
  const look = (): void => {
    const now = clock.now();
    if (busy()) idleSince = now;
    else if (now - idleSince >= SERVER.idleExitMs) return leave();
    arm();
  };
  arm();
  return () => timer.cancel();
}
