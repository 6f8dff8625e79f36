/** Progress in one line: how far, and when it may be done. */
import type { ProgressView } from "../../../src/contracts/protocol/operations.ts";
import { clean } from "../../terminal/layout.ts";
import { duration } from "../../terminal/times.ts";

/** "copying: 40 of 100 files (phase 2), running, about 3 min left (2 min to 5 min, medium confidence)" */
export function progressLine(progress: ProgressView): string {
  const { completed, estimate, label, phase, status, total } = progress;
  const unit = progress.unit === null ? "" : ` ${clean(progress.unit)}`;
  const count =
    completed === null && total === null
      ? ""
      : `${completed ?? "?"}${total === null ? "" : ` of ${total}`}${unit}${phase === null ? "" : ` (${clean(phase)})`}, `;
  const where = count === "" && phase !== null ? `${clean(phase)}, ` : "";
  return `${clean(label)}: ${count}${where}${status}${remaining(estimate)}`;
}

function remaining(estimate: ProgressView["estimate"]): string {
  if (estimate.kind === "unavailable")
    return /^(it is |its step is over)/.test(estimate.reason) ? "" : `; no estimate: ${clean(estimate.reason)}`;
  const { high, low, median } = estimate.remainingMs;
  if (median < 1_000) return ", should be done any moment";
  const spread = high - low < 1_000 ? "" : `${duration(low)} to ${duration(high)}`;
  const trust = estimate.confidence === null ? "as its source says" : `${estimate.confidence} confidence`;
  return `, about ${duration(median)} left (${[spread, trust].filter((part) => part !== "").join(", ")})`;
}
