/**
 * Whether one channel hears, judged from how its polls ended. Pure: no clock, no store. A channel is deaf when its polls keep failing,
 * or when somebody else keeps taking its updates, although some of its polls succeed in between.
 */
import type { DeafCause } from "../../contracts/decision/codes.ts";
import { DEAF } from "../../contracts/limits.ts";

export type EarVerdict =
  | { readonly kind: "deaf"; readonly since: number; readonly cause: DeafCause }
  | { readonly kind: "hears" };

export class Ear {
  /** The first failure of the present trouble; null = there is none. */
  #since: number | null = null;
  #cause: DeafCause = "unreachable";
  /** Times of 409s, oldest first. */
  #conflicts: number[] = [];
  #lastWasGood = true;
  #told: boolean;

  /** `known`: what was told before a restart; a fresh conflict may still be going on. */
  constructor(known: { readonly since: number; readonly cause: DeafCause } | null, now: number) {
    this.#told = known !== null;
    if (known === null) return;
    this.#since = known.since;
    this.#cause = known.cause;
    this.#lastWasGood = false;
    if (known.cause === "conflict") this.#conflicts = [now];
  }

  good(now: number): void {
    this.#lastWasGood = true;
    this.#calm(now);
  }

  failed(now: number, cause: DeafCause): void {
    this.#lastWasGood = false;
    this.#since ??= now;
    if (!this.#told) this.#cause = cause;
    if (cause === "conflict") this.#conflicts.push(now);
    this.#forget(now);
  }

  /** The machine slept: what lies before proves nothing, unless it was told already. */
  rebase(now: number): void {
    if (!this.#told && this.#since !== null) this.#since = now;
    this.#conflicts = [];
  }

  /** What is to be told now; null = nothing new. It is told again until `told`. */
  verdict(now: number): EarVerdict | null {
    this.#calm(now);
    if (this.#told) return this.#since === null ? { kind: "hears" } : null;
    if (this.#since === null || now - this.#since < DEAF.afterMs) return null;
    if (this.#conflicts.length >= DEAF.conflicts) return { kind: "deaf", since: this.#since, cause: "conflict" };
    if (this.#lastWasGood || this.#cause === "conflict") return null;
    return { kind: "deaf", since: this.#since, cause: this.#cause };
  }

  /** The verdict is stored. */
  told({ kind }: EarVerdict): void {
    this.#told = kind === "deaf";
  }

  /** When time alone may change the verdict; null = never. */
  nextLook(now: number): number | null {
    if (this.#since === null) return null;
    const times = [this.#told ? null : this.#since + DEAF.afterMs, this.#quietAt()];
    const future = times.filter((at) => at !== null && at > now) as number[];
    return future.length === 0 ? null : Math.min(...future);
  }

  /** When a fight for the updates counts as over, if nothing more comes. */
  #quietAt(): number | null {
    const last = this.#conflicts.at(-1);
    return last === undefined ? null : last + DEAF.conflictQuietMs;
  }

  #forget(now: number): void {
    this.#conflicts = this.#conflicts.filter((at) => at > now - DEAF.conflictQuietMs);
  }

  /** Trouble is over with a good poll, and after a fight only when nothing was heard of it for a while. */
  #calm(now: number): void {
    this.#forget(now);
    if (this.#lastWasGood && this.#conflicts.length === 0) {
      this.#since = null;
    }
  }
}
