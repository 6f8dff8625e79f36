/** The report of a check: what the model says, how far things are, what is not done and why, and when the next look is. */
import { estimateProgress, observeProgress, type Estimate, type Progress, type ProgressTrack } from "holdpoint";
import type { Observation } from "./observation.ts";
import type { Verdict } from "./rules.ts";

export const REPORT_CHARS = 4_000;

/** How far one track is, compared with the check before. */
export interface Advance {
  readonly key: string;
  readonly progress: Progress;
  /** Completed since the check before, and per hour; null when nothing can be compared. */
  readonly delta: number | null;
  readonly perHour: number | null;
  readonly estimate: Estimate;
}

export interface Estimated {
  /** When the check was accepted, by the server's clock. */
  readonly at: number;
  readonly tracks: Readonly<Record<string, ProgressTrack>>;
  readonly advances: readonly Advance[];
}

/** Adds what was seen at `at` to what is known of each track; a track that is not named any more is forgotten. */
export function estimated(observation: Observation | undefined, before: Estimated | undefined, at: number): Estimated {
  if (observation === undefined) return { at, tracks: before?.tracks ?? {}, advances: [] };
  const known = new Map(Object.entries(before?.tracks ?? {}));
  const entries = observation.progress.map(({ key, progress }) => {
    const earlier = known.get(key);
    const track = observeProgress(earlier, progress, at);
    return { key, track, advance: advanceOf(key, earlier, track, at) };
  });
  return {
    at,
    tracks: Object.fromEntries(entries.map(({ key, track }) => [key, track])),
    advances: entries.map(({ advance }) => advance),
  };
}

function advanceOf(key: string, earlier: ProgressTrack | undefined, track: ProgressTrack, at: number): Advance {
  const { completed, unit } = track.latest;
  const was = earlier?.latest;
  const comparable = was !== undefined && was.unit === unit && was.completed !== undefined && completed !== undefined;
  const delta = comparable ? completed - (was.completed as number) : null;
  const hours = earlier === undefined ? 0 : (at - earlier.at) / 3_600_000;
  const perHour = delta === null || hours <= 0 ? null : delta / hours;
  return { key, progress: track.latest, delta, perHour, estimate: estimateProgress(track, at) };
}

/** Those that matter most come first: the aggregate, then what failed or is blocked, then what is at work. */
export function byImportance(advances: readonly Advance[]): Advance[] {
  return advances.toSorted((a, b) => rank(a) - rank(b));
}

function rank({ key, progress }: Advance): number {
  if (key === "overall") return 0;
  if (progress.status === "failed" || progress.status === "blocked") return 1;
  return progress.status === "completed" || progress.status === "cancelled" ? 3 : 2;
}

/** Markdown of at most 4,000 characters. What does not fit is counted. */
export function reportText(given: {
  readonly report: string;
  readonly verdict: Verdict;
  readonly advances: readonly Advance[];
  /** Null when there is none. */
  readonly nextCheckAt: number | null;
}): string {
  const { advances, nextCheckAt, report, verdict } = given;
  const end = [
    ...(verdict.overruled === null ? [] : [`Not done. ${verdict.overruled}`]),
    ...(verdict.route === "stop"
      ? [`The monitor stops after ${count(verdict.checks, "check")}. ${verdict.reason}`]
      : []),
    ...(nextCheckAt === null ? [] : [`Next check: ${timeText(nextCheckAt)}`]),
  ].map((line) => cut(line, 1_200));
  const reserve = end.join("\n").length + 48;
  const shown = [cut(report, REPORT_CHARS - reserve)];
  let room = REPORT_CHARS - reserve - (shown[0]?.length ?? 0);
  const lines = byImportance(advances).map(lineOf);
  const fitting: string[] = [];
  for (const line of lines) {
    if ((room -= line.length + 1) < 0) break;
    fitting.push(line);
  }
  const omitted = lines.length - fitting.length;
  const rest = omitted === 0 ? [] : [`- (${omitted} more left out)`];
  // Markdown: what belongs to no list stands apart from it.
  const sections = [shown, [...fitting, ...rest], end].map((section) => section.join("\n"));
  return sections.filter((section) => section !== "").join("\n\n");
}

function lineOf({ delta, estimate, perHour, progress }: Advance): string {
  const { completed, label, phase, status, total, unit } = progress;
  const parts = [phase === undefined ? status : `${status}, ${phase}`];
  if (completed !== undefined) {
    const of = total === undefined ? "" : ` of ${amount(total)}`;
    const change =
      delta === null
        ? ""
        : ` (${delta < 0 ? "" : "+"}${amount(delta)}${perHour === null ? "" : `, ${amount(perHour)} an hour`})`;
    parts.push(`${amount(completed)}${of} ${unit ?? ""}`.trimEnd() + change);
  }
  if (estimate.kind === "estimate") {
    const { high, low, median } = estimate.remainingMs;
    const range =
      high > low
        ? ` (${span(low)} to ${span(high)}${estimate.confidence === null ? "" : `, ${estimate.confidence} confidence`})`
        : "";
    parts.push(`about ${span(median)} left${range}`);
  }
  return `- ${label}: ${parts.join("; ")}`;
}

function amount(value: number): string {
  return String(Math.round(value * 100) / 100);
}

function span(ms: number): string {
  const minutes = Math.max(0, Math.round(ms / 60_000));
  if (minutes < 90) return count(minutes, "minute");
  return minutes < 48 * 60 ? count(Math.round(minutes / 60), "hour") : count(Math.round(minutes / 1_440), "day");
}

function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** The same wherever it is read. */
function timeText(at: number): string {
  return `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function cut(text: string, units: number): string {
  return text.length <= units ? text : `${text.slice(0, Math.max(0, units - 1)).replace(/[\ud800-\udbff]$/, "")}…`;
}
