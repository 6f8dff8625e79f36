/** Random numbers that a seed repeats. */

export interface Random {
  /** From 0 up to, and without, 1. */
  next(): number;
  /** True with this chance. */
  chance(of: number): boolean;
  /** A whole number from `from` to `to`, both included. */
  between(from: number, to: number): number;
  pick<T>(from: readonly T[]): T;
}

/** Mulberry32: small, and the same on every machine. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  const between = (from: number, to: number): number => from + Math.floor(next() * (to - from + 1));
  return {
    next,
    between,
    chance: (of) => next() < of,
    pick: (from) => {
      if (from.length === 0) throw new Error("there is nothing to pick from");
      return from[between(0, from.length - 1)] as (typeof from)[number];
    },
  };
}
