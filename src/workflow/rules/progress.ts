/**
 * The estimator of progress (CONTRACTS 1.8): from what a track reported so far to when it may be done, with how far that
 * can be trusted, or why nothing can be said. Pure: the hour is handed in.
 */
import { PROGRESS } from "../../contracts/limits.ts";
import { isTerminal, type Progress } from "../../contracts/progress.ts";

interface Sample {
  readonly at: number;
  readonly completed: number;
}

/** What is remembered of one key: the newest report, and the measurements of its present epoch, oldest first. */
export interface ProgressTrack {
  readonly latest: Progress;
  /** When the newest report came, in milliseconds since the epoch. */
  readonly at: number;
  /** At most 9: eight intervals. Each has more completed than the one before, and is later. */
  readonly samples: readonly Sample[];
}

export type Confidence = "low" | "medium" | "high";

export type Estimate =
  | {
      readonly kind: "estimate";
      /** `source`: stated by whoever reports; `measured`: from the rate of the last intervals. */
      readonly by: "source" | "measured";
      /** Milliseconds from now, never below 0; `low` is the soonest. */
      readonly remainingMs: { readonly low: number; readonly median: number; readonly high: number };
      readonly confidence: Confidence | null;
    }
  | { readonly kind: "unavailable"; readonly reason: string };

/**
 * The track after another report. An epoch begins anew when phase, unit or total change, when less is completed than
 * before, and when work goes on after its end.
 *
 * @param at when the report came; its own `sourceUpdatedAt` is the moment of the measurement if it is not later.
 */
export function observe(track: ProgressTrack | undefined, latest: Progress, at: number): ProgressTrack {
  const measured = Math.min(at, latest.sourceUpdatedAt ?? at);
  const { completed } = latest;
  const before = track !== undefined && continues(track.latest, latest) ? track.samples : [];
  if (completed === undefined) return { latest, at, samples: before };
  const last = before.at(-1);
  if (last === undefined) return { latest, at, samples: [{ at: measured, completed }] };
  if (completed < last.completed) return { latest, at, samples: [{ at: measured, completed }] };
  // Without an advance in work and time there is no new interval: the present one goes on.
  if (completed === last.completed || measured <= last.at) return { latest, at, samples: before };
  return { latest, at, samples: [...before, { at: measured, completed }].slice(-(PROGRESS.intervals + 1)) };
}

/** When the track may be done, seen at `now`. */
export function estimate(track: ProgressTrack, now: number): Estimate {
  const { at, latest, samples } = track;
  const { completed, sourceEstimatedFinishAt, sourceUpdatedAt, status, total } = latest;
  if (isTerminal(status)) return unavailable(`it is ${status}`);
  if (sourceEstimatedFinishAt !== undefined) {
    const age = now - (sourceUpdatedAt ?? at);
    if (age <= PROGRESS.sourceFreshMs && sourceEstimatedFinishAt >= now) {
      const rest = sourceEstimatedFinishAt - now;
      return { kind: "estimate", by: "source", remainingMs: { low: rest, median: rest, high: rest }, confidence: null };
    }
  }
  if (status === "waiting" || status === "blocked") return unavailable(`it is ${status}`);
  if (total === undefined) return unavailable("its total is not known");
  if (completed === undefined) return unavailable("it does not say how much is completed");
  const rates = ratesOf(samples);
  if (rates.length === 0) return unavailable("it has not advanced since it was first measured");

  const measuredAt = samples.at(-1)?.at ?? at;
  const passed = Math.max(0, now - measuredAt);
  const remaining = (rate: number): number => Math.max(0, (total - completed) / rate - passed);
  const [slow, median, fast] = [quantile(rates, 0.25), quantile(rates, 0.5), quantile(rates, 0.75)];
  return {
    kind: "estimate",
    by: "measured",
    remainingMs: { low: remaining(fast), median: remaining(median), high: remaining(slow) },
    confidence: confidenceOf(rates.length, (fast - slow) / median),
  };
}

function continues(before: Progress, now: Progress): boolean {
  if (before.phase !== now.phase || before.unit !== now.unit || before.total !== now.total) return false;
  return !isTerminal(before.status) || isTerminal(now.status);
}

/** Work per millisecond of each interval, sorted. */
function ratesOf(samples: readonly Sample[]): number[] {
  const rates: number[] = [];
  for (let i = 1; i < samples.length; i++) {
    const [from, to] = [samples[i - 1] as Sample, samples[i] as Sample];
    const rate = (to.completed - from.completed) / (to.at - from.at);
    // Amounts far apart in size can round to nothing.
    if (Number.isFinite(rate) && rate > 0) rates.push(rate);
  }
  return rates.sort((a, b) => a - b);
}

/** Linear interpolation between the nearest ranks of a sorted list. */
function quantile(sorted: readonly number[], q: number): number {
  const place = (sorted.length - 1) * q;
  const [low, high] = [sorted[Math.floor(place)] as number, sorted[Math.ceil(place)] as number];
  return Math.min(high, low + (high - low) * (place - Math.floor(place)));
}

function confidenceOf(intervals: number, spread: number): Confidence {
  if (intervals === 1) return "low";
  if (intervals >= 5 && spread <= 0.25) return "high";
  return spread <= 0.5 ? "medium" : "low";
}

function unavailable(reason: string): Estimate {
  return { kind: "unavailable", reason };
}
