/** What the children of these tests print, one JSON object a line. */

/** Of the workload: what a settled promise has promised. */
export type Reply =
  | { readonly kind: "epoch"; readonly epoch: number }
  | {
      readonly kind: "run";
      readonly runId: string;
      readonly steps: number;
      readonly status: "queued" | "running" | "completed";
    }
  | { readonly kind: "refused"; readonly code: string }
  | { readonly kind: "end" };

/** Of the full disk. `outcomes` are `accepted`, `adopted` or kinds of errors, in the order of `keys`. */
export type DiskReply =
  | { readonly kind: "batch"; readonly keys: string[]; readonly outcomes: string[] }
  | {
      readonly kind: "found";
      readonly keys: string[];
      readonly rows: Record<string, number>;
      readonly problems: readonly string[];
    }
  | { readonly kind: "fatal"; readonly error: string };

/** A file beside the database that takes space until somebody frees it. */
export const BALLAST = "ballast";

/** Parses whole lines; an unfinished last one was never said. */
export function repliesIn<T>(text: string): T[] {
  return text
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as T);
}
