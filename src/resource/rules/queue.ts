/** When a resource gets its next pass, by how the last one ended. */
import { backoffMs } from "./backoff.ts";

/** How a pass ended, as far as the queue cares. */
export type PassEnd =
  | { readonly outcome: "settled" | "requeue" | "failed" }
  | { readonly outcome: "requeueAfter"; readonly delayMs: number };

export interface Waiting {
  /** Consecutive passes that failed before this one. */
  readonly failures: number;
  /** Something asked for a pass while this one went on: it may have come too late for it. */
  readonly again: boolean;
}

/** The queue row after a pass: when it is due, and with how many failures; null = it leaves the queue. */
export function afterPass(
  end: PassEnd,
  { again, failures }: Waiting,
  now: number,
  random: number,
): { readonly availableAt: number; readonly failures: number } | null {
  // Whoever asks in between wants a fresh look, but a failing pass is not hurried by it.
  if (end.outcome === "failed") return { availableAt: now + backoffMs(failures + 1, random), failures: failures + 1 };
  if (again || end.outcome === "requeue") return { availableAt: now, failures: 0 };
  if (end.outcome === "requeueAfter") return { availableAt: now + end.delayMs, failures: 0 };
  return null;
}
