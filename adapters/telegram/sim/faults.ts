/** The faults that are set, and which request meets which. What a fault does to a request is in `exchange.ts`. */
import type { ActiveFault, Faults, FaultSpec } from "./types.ts";

export interface Hit {
  id: string;
  spec: FaultSpec;
  /** Aborted when the fault is removed. */
  removed: AbortSignal;
}

export interface FaultBook extends Faults {
  /** The fault that touches this request, counted as a hit. */
  match(method: string, chatId: number | undefined): Hit | undefined;
}

interface Entry extends ActiveFault {
  toSkip: number;
  removal: AbortController;
}

export function createFaults(specs: FaultSpec[], onChange: () => void): FaultBook {
  const entries: Entry[] = [];
  let count = 0;

  function end(entry: Entry): void {
    entry.active = false;
    entry.removal.abort();
  }

  const book: FaultBook = {
    add(spec) {
      count += 1;
      const id = `fault-${count}`;
      const removal = new AbortController();
      entries.push({ id, spec, hits: 0, active: true, toSkip: spec.skip ?? 0, removal });
      onChange();
      return id;
    },
    remove(id) {
      const entry = entries.find((known) => known.id === id);
      if (!entry) throw new Error(`no fault ${id}`);
      end(entry);
      onChange();
    },
    clear() {
      for (const entry of entries) end(entry);
      onChange();
    },
    list: () => entries.map(({ id, spec, hits, active }) => ({ id, spec, hits, active })),
    match(method, chatId) {
      for (const entry of entries) {
        if (!entry.active || !applies(entry.spec, method, chatId)) continue;
        if (entry.toSkip > 0) {
          entry.toSkip -= 1;
          continue;
        }
        entry.hits += 1;
        // Used up, but requests that it already holds stay held: no abort here.
        if (entry.spec.times !== "always" && entry.hits >= (entry.spec.times ?? 1)) entry.active = false;
        onChange();
        return { id: entry.id, spec: entry.spec, removed: entry.removal.signal };
      }
      return undefined;
    },
  };
  for (const spec of specs) book.add(spec);
  return book;
}

function applies(spec: FaultSpec, method: string, chatId: number | undefined): boolean {
  const methods = spec.method === undefined ? [] : [spec.method].flat();
  if (methods.length > 0 && !methods.some((name) => name.toLowerCase() === method.toLowerCase())) return false;
  return spec.chat === undefined || spec.chat === chatId;
}
