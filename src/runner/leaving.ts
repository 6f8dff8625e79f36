/** What must be done before this process ends, by parts that are only loaded when they are needed. */

interface Leaving {
  /** Ends what would outlive the process, in time; undefined when there is nothing. */
  readonly tidy: () => Promise<void> | undefined;
  /** The same in an instant, as far as that goes. */
  readonly atOnce: () => void;
}

const parts: Leaving[] = [];

export function beforeLeaving(part: Leaving): void {
  parts.push(part);
}

/** Resolves when everything is tidied; undefined when there was nothing to do. */
export function tidyUp(): Promise<unknown> | undefined {
  const work = parts.map((part) => part.tidy()).filter((done) => done !== undefined);
  return work.length === 0 ? undefined : Promise.allSettled(work);
}

export function tidyAtOnce(): void {
  for (const part of parts) part.atOnce();
}
