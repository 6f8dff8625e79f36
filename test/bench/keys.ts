/** The figures of a run of the benchmark: their names, what they have to reach, and how they are summed up. */

export const KEYS = [
  "commit_floor_per_s",
  "floor_steps_per_s_100",
  "floor_steps_per_s_10000",
  "fsyncs_per_100_steps",
  "pure_steps_per_s_100",
  "pure_steps_per_s_10000",
  "pure_steps_per_s_8x100",
  "action_steps_per_s",
  "action_steps_per_s_8x",
  "answers_per_s",
  "answer_to_continued_ms_p50_cold",
  "answer_to_continued_ms_p50_warm",
  "answer_to_continued_ms_p95_warm",
  "resumed_runs_per_s",
  "cold_start_ms",
  "recover_ms",
  "runner_recover_ms",
  "ready_ms",
  "rss_server_mb",
  "rss_adapter_mb",
  "rss_1000_parked_mb",
  "reconciles_per_s",
  "enqueue_per_s",
  "list_10000_ms",
  "probe_cpu_percent",
] as const;
export type Key = (typeof KEYS)[number];

/** Medians by key; a key that could not be measured is missing. */
export type Figures = Partial<Record<Key, number>>;

interface Target {
  readonly text: string;
  readonly met: (value: number, figures: Figures) => boolean;
}

const share = (of: Key, part: number): Target => ({
  text: `at least ${part} x ${of}`,
  met: (value, figures) => value >= part * (figures[of] ?? Number.NaN),
});
const most = (limit: number): Target => ({ text: `at most ${limit}`, met: (value) => value <= limit });
const least = (limit: number): Target => ({ text: `at least ${limit}`, met: (value) => value >= limit });

export const TARGETS: Partial<Record<Key, readonly Target[]>> = {
  fsyncs_per_100_steps: [{ text: "at least 10 steps per fsync", met: (value) => 100 / value >= 10 }],
  pure_steps_per_s_100: [share("floor_steps_per_s_100", 0.7)],
  pure_steps_per_s_10000: [
    share("floor_steps_per_s_10000", 0.7),
    {
      text: "cost of a step at most 1.3 x that of pure_steps_per_s_100",
      met: (value, figures) => 1 / value <= 1.3 / (figures.pure_steps_per_s_100 ?? Number.NaN),
    },
  ],
  pure_steps_per_s_8x100: [share("floor_steps_per_s_100", 0.7)],
  action_steps_per_s: [share("commit_floor_per_s", 0.35)],
  action_steps_per_s_8x: [share("commit_floor_per_s", 1.2)],
  answers_per_s: [share("commit_floor_per_s", 0.8)],
  answer_to_continued_ms_p50_warm: [most(5)],
  answer_to_continued_ms_p95_warm: [most(15)],
  resumed_runs_per_s: [least(1_300)],
  cold_start_ms: [most(350)],
  recover_ms: [most(1_000)],
  runner_recover_ms: [most(300)],
  ready_ms: [most(400)],
  rss_server_mb: [most(100)],
  rss_1000_parked_mb: [most(40)],
  reconciles_per_s: [least(200)],
  enqueue_per_s: [least(5_000)],
  list_10000_ms: [most(200)],
  probe_cpu_percent: [most(5)],
};

export interface Summary {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
  /** (highest - lowest) / median. */
  readonly spread: number;
}

/** Throws for an empty list: a figure of nothing is none. */
export function summarize(values: readonly number[]): Summary {
  if (values.length === 0) throw new Error("nothing was measured");
  const sorted = values.toSorted((a, b) => a - b);
  const lowest = sorted[0] as number;
  const highest = sorted.at(-1) as number;
  const median =
    ((sorted[Math.floor((sorted.length - 1) / 2)] as number) + (sorted[Math.ceil((sorted.length - 1) / 2)] as number)) /
    2;
  return { median, lowest, highest, spread: median === 0 ? 0 : (highest - lowest) / median };
}

/** Three significant digits at least; whole numbers above a thousand. */
export function rounded(value: number): number {
  return Math.abs(value) >= 1_000 ? Math.round(value) : Number(value.toPrecision(3));
}

/** The smallest value that at least this share of all (0 to 1) do not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
}
