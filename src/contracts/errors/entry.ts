/** One row of the registry of errors. */
export interface ErrorEntry {
  readonly code: `HP${number}`;
  /** When it happens, in one sentence. */
  readonly when: string;
  /** The default next step; a thrower may give a better one. */
  readonly remedy: string;
}
