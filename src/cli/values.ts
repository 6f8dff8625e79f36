/**
 * Checks of single words on the command line.
 */
import { usage } from "./context.ts";
import { suggestion } from "../contracts/nearest.ts";

/** Throws `usage` with the nearest valid word unless the value is one of them. */
export function oneOf<T extends string>(value: string, valid: readonly T[], what: string): T {
  const found = valid.find((candidate) => candidate === value);
  if (found !== undefined) return found;
  throw usage(`"${value}" is not a valid ${what}.`, suggestion(value, valid));
}

/** A whole number within bounds, or `usage`. */
export function wholeNumber(value: string, what: string, min: number, max: number): number {
  const number = /^[0-9]+$/.test(value) ? Number(value) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw usage(`${what} is "${value}"; it must be a whole number from ${min} to ${max}.`);
}
