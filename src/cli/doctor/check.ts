/** One thing that the doctor looked at, and what it found. */
import { isHoldpointError } from "../../contracts/errors.ts";

export interface Check {
  readonly name: string;
  /** `note`: something to know, nothing is broken. */
  readonly state: "ok" | "note" | "wrong";
  readonly found: string;
  readonly remedy: string | null;
}

export function ok(name: string, found: string): Check {
  return { name, state: "ok", found, remedy: null };
}

export function note(name: string, found: string, remedy: string | null = null): Check {
  return { name, state: "note", found, remedy };
}

export function wrong(name: string, found: string, remedy: string): Check {
  return { name, state: "wrong", found, remedy };
}

/** What a part of this program refused, in its own words. */
export function refused(name: string, error: unknown): Check {
  if (!isHoldpointError(error)) throw error;
  const { message, remedy } = error;
  return wrong(name, message, remedy);
}
