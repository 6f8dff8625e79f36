/** The state with which a runner goes on, in frames that fit: results, steps, mounts, then `go`. */
import type { ToRunner } from "../../contracts/protocol/runner.ts";
import type { ContentRef } from "../../contracts/protocol/shared.ts";
import type { Store } from "../../state/store.ts";

type ResumeState = Awaited<ReturnType<Store["runs"]["ready"]>>;

/** At most this many items or about this many bytes in one frame, well below the frame limit. */
const STATE_ITEMS = 2_000;
const STATE_BYTES = 400_000;

/** The frames in order; none when nothing is left to execute. `offer` is told of each content that a frame names. */
export function* resumeFrames(state: ResumeState, offer: (ref: ContentRef) => void): Generator<ToRunner> {
  if (state.position === null) return;
  for (const { outputRef } of state.results) if (outputRef !== undefined) offer(outputRef);
  for (const { inputRef } of state.mounts) if (inputRef !== undefined) offer(inputRef);
  for (const items of chunks(state.results)) yield { type: "state.results", items };
  let first = 0;
  for (const steps of chunks(state.steps)) {
    yield { type: "state.steps", first, steps };
    first += steps.length;
  }
  for (const items of chunks(state.mounts)) yield { type: "state.mounts", items };
  yield { type: "go", position: state.position, visits: state.visits };
}

function* chunks<T>(items: readonly T[]): Generator<T[]> {
  let part: T[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = JSON.stringify(item).length;
    if (part.length > 0 && (part.length >= STATE_ITEMS || bytes + size > STATE_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(item);
    bytes += size;
  }
  if (part.length > 0) yield part;
}
