/**
 * Wake-ups that come in dozens: a batch of the store tells each of its callers, and each wakes whoever might have something to do. What is
 * woken looks into the database, so it does that once, after all of them.
 */

/** Calls `work` once after any number of calls in one turn of the event loop; unless `stopped` by then. */
export function onceATurn(work: () => void, stopped: () => boolean): () => void {
  let due = false;
  return () => {
    if (due) return;
    due = true;
    setImmediate(() => {
      due = false;
      if (!stopped()) work();
    });
  };
}
