/**
 * Commands: the only way in which the database changes. A command has a label of its own; each label is two fault
 * points (before commit, after commit), and the registry of labels is the denominator of the crash tests.
 */
import type { Tx } from "./tx.ts";

export interface Command<I, O> {
  readonly label: string;
  readonly run: (tx: Tx, input: I) => O;
}

const labels = new Set<string>();

/** Every label of the process, in order of definition. Complete once `store.ts` has been imported. */
export const LABELS: ReadonlySet<string> = labels;

/**
 * Defines a command. `run` must be synchronous; the queue refuses one that returns a promise.
 * Throws when the label is taken: two commands behind one fault point would hide one of them from the crash tests.
 */
export function defineCommand<I, O>(label: string, run: (tx: Tx, input: I) => O): Command<I, O> {
  if (!/^[a-z][a-zA-Z]*\.[a-zA-Z]+$/.test(label))
    throw new Error(`command label "${label}" has not the form aggregate.verb`);
  if (labels.has(label)) throw new Error(`command label "${label}" is used twice`);
  labels.add(label);
  return { label, run };
}

/** Commands of one aggregate, by method name. */
// oxlint-disable-next-line no-explicit-any -- a table of commands of all inputs
export type CommandTable = Readonly<Record<string, Command<any, any>>>;

/** The async methods that a table becomes on the store. */
export type Methods<T extends CommandTable> = {
  readonly [K in keyof T]: T[K] extends Command<infer I, infer O> ? (input: I) => Promise<O> : never;
};
