/** When a monitor is looked at next, and what a silence means for it. Times in milliseconds since the epoch. */
import { PROBES } from "../../contracts/limits.ts";
import type { MonitorSpec } from "../../contracts/monitor/spec.ts";
import { missedBetween, nextAfter } from "../../contracts/schedule.ts";
import { sha256Hex } from "../../contracts/ids.ts";

/** Nothing that must happen is this far away: what never comes again waits here. */
const NEVER = Date.UTC(9_000, 0, 1);

function graceMs({ check }: MonitorSpec): number {
  return check.type === "heartbeat" ? check.target.graceSeconds * 1_000 : 0;
}

/** When a new monitor is looked at: a target at once, a job when its first report is overdue. */
export function firstAt(spec: MonitorSpec, now: number, zone: string): number {
  if (spec.check.type === "heartbeat") return expected(spec, now, zone);
  return spec.schedule === undefined ? now : (nextAfter(spec, now, zone) ?? NEVER);
}

/** When the next report of a job is overdue, after one at `now` or when reports from before `now` may have been lost. */
export function expected(spec: MonitorSpec, now: number, zone: string): number {
  return (nextAfter(spec, now, zone) ?? NEVER) + graceMs(spec);
}

/** When a report that is overdue at `now` counts as missing once more. */
export function overdueAgain(spec: MonitorSpec, now: number, zone: string): number {
  return spec.schedule === undefined ? (nextAfter(spec, now, zone) ?? NEVER) : expected(spec, now, zone);
}

/**
 * The check after one that was due at `due` and made at `now`. Intervals keep their beat, unless that would be in the past: what slept
 * is looked at once, not as often as it was missed. After its very first check a monitor gets a beat of its own, so that many that
 * were added together are not all looked at in the same second for ever.
 */
export function nextCheck(
  spec: MonitorSpec,
  name: string,
  made: { due: number; now: number; first: boolean },
  zone: string,
): number {
  const { due, first, now } = made;
  if (spec.everySeconds === undefined) return nextAfter(spec, now, zone) ?? NEVER;
  const every = spec.everySeconds * 1_000;
  if (first) {
    const share = (1 + (Number.parseInt(sha256Hex(name).slice(0, 4), 16) % spec.everySeconds)) * 1_000;
    return Math.ceil((now + share) / 1_000) * 1_000;
  }
  const next = due + every;
  return next > now ? next : Math.ceil((now + every) / 1_000) * 1_000;
}

/** Checks that were due after `due` and could not be made until `now`; a look that is a little late missed none. */
export function missedChecks(spec: MonitorSpec, due: number, now: number, zone: string): number {
  return now - due <= PROBES.sleptMs ? 0 : missedBetween(spec, due, now, zone);
}

/** Whether the report that a job owed may have been made in a silence of ours, which began at `from` and ends now. */
export function mayHaveReported(spec: MonitorSpec, nextAt: number, from: number, now: number): boolean {
  return nextAt > from && nextAt - graceMs(spec) <= now;
}
