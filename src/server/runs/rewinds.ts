/**
 * What was refused of a runner's steps: frames that follow a refused one are ignored until the runner goes on where it was told, and a
 * runner that proposes the same refused step again and again is given up.
 */
import { HoldpointError } from "../../contracts/errors.ts";

/** A runner that proposes the same refused step this often will not come to another opinion. */
const REWINDS_PER_STEP = 3;

export class Rewinds {
  /** After a rewind, steps are ignored until those that begin here; infinite while it is not known yet where. */
  #to: number | undefined;
  #last = -1;
  #here = 0;

  /** Whether steps were refused and the runner has not gone on yet. */
  get open(): boolean {
    return this.#to !== undefined;
  }

  /** Whether steps that begin at `first` follow some that were refused; those that the runner was told to begin with end that. */
  takesBack(first: number): boolean {
    if (this.#to === undefined) return false;
    if (first !== this.#to) return true;
    this.#to = undefined;
    return false;
  }

  /** Everything is ignored until `told`. */
  begin(): void {
    this.#to = Number.POSITIVE_INFINITY;
  }

  /** The runner is told where to go on. */
  told(from: number): void {
    this.#to = from;
  }

  /** A refusal of the runner's own doing is told. Throws `protocolRejected` when it was told too often. */
  refused(from: number, reason: string): void {
    // Settings may change as often as people like; every other refusal of the same step is the runner's defect.
    if (reason === "settings") this.#last = -1;
    this.#here = from === this.#last ? this.#here + 1 : 1;
    this.#last = from;
    if (this.#here > REWINDS_PER_STEP)
      throw new HoldpointError("protocolRejected", `Step ${from} was refused ${this.#here} times (${reason}).`);
    this.#to = from;
  }
}
