/** The time that a sleeping run waits for: how it travels, and what is no time. */
import { z } from "zod";
import { HoldpointError } from "./errors.ts";
import { SLEEP } from "./limits.ts";

/** `for`: milliseconds from when the server stores it. `until`: milliseconds since the epoch, in the past for "at once". */
export const sleepWakeSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("for"), ms: z.number().int().nonnegative() }),
  z.strictObject({ kind: z.literal("until"), at: z.number().int().nonnegative() }),
]);
export type SleepWake = z.infer<typeof sleepWakeSchema>;

/** The time that a node made; fractions are rounded up. Throws `sleepInvalid`; whether `until` is too far away, only the server's clock can say. */
export function sleepWake(kind: SleepWake["kind"], value: unknown, what: string): SleepWake {
  if (typeof value !== "number" || !Number.isFinite(value) || value < 0 || value > Number.MAX_SAFE_INTEGER)
    throw invalid(what, `is ${String(value)}, which is no number of milliseconds`, {});
  const whole = Math.ceil(value);
  if (kind === "until") return { kind, at: whole };
  if (whole > SLEEP.maxMs) throw tooLong(what, whole);
  return { kind, ms: whole };
}

/** When a sleep that begins now is over. Throws `sleepInvalid` when that is too far away. */
export function wakeTime(wake: SleepWake, now: number, what: string): number {
  const ms = wake.kind === "for" ? wake.ms : Math.max(0, wake.at - now);
  if (ms > SLEEP.maxMs) throw tooLong(what, ms);
  return now + ms;
}

function tooLong(what: string, seen: number): HoldpointError {
  return invalid(what, `lasts ${seen} ms; the limit is ${SLEEP.maxMs} ms`, { limit: SLEEP.maxMs, seen });
}

function invalid(what: string, why: string, details: Record<string, number>): HoldpointError {
  return new HoldpointError("sleepInvalid", `${what} ${why}.`, { details });
}
