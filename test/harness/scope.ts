/** What a test started and must not leave behind. */

export class Scope {
  readonly #steps: (() => unknown)[] = [];

  /** Registers something to undo; the last one is undone first. */
  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  /** Undoes everything. All steps run; the first error is thrown at the end. */
  async close(): Promise<void> {
    let failure: unknown;
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch (error) {
        failure ??= error;
      }
    }
    if (failure !== undefined) throw failure;
  }
}
