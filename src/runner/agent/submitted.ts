/**
 * What a model submitted, as the values it may have meant. Models give JSON as text, in fences, or with words around it;
 * the text itself is one of the readings, so that a step that wants text gets it unchanged.
 */
import { AGENT } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { Validate, Validated } from "./types.ts";

/** Tries the readings in order; the refusal of the first is the one that is told. */
export async function validateSubmitted(submitted: JsonValue, validate: Validate): Promise<Validated> {
  let refusal: Validated | undefined;
  for (const reading of readings(submitted)) {
    const validated = await validate(reading);
    if (validated.ok) return validated;
    refusal ??= validated;
  }
  return refusal ?? { ok: false, message: "There is no output." };
}

/**
 * A text that is an object or list as a whole (fenced or not) is read as that first; then as the text; then as each
 * object or list inside it, from at most `AGENT.jsonCandidates` places.
 */
export function* readings(submitted: JsonValue): Generator<JsonValue> {
  if (typeof submitted !== "string") {
    yield submitted;
    return;
  }
  const whole = container(unfenced(submitted));
  if (whole !== undefined) yield whole;
  yield submitted;
  if (whole !== undefined) return;
  let from = 0;
  for (let scans = 0; scans < AGENT.jsonCandidates; scans += 1) {
    const start = nextOpening(submitted, from);
    if (start === -1) return;
    const end = closing(submitted, start);
    const value = end === -1 ? undefined : container(submitted.slice(start, end));
    if (value !== undefined) yield value;
    from = value === undefined ? start + 1 : end;
  }
}

function container(text: string): JsonValue | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

function unfenced(text: string): string {
  const trimmed = text.trim();
  const fence = /^(`{3,}|~{3,})[^\n]*\n([\s\S]*)\n\1$/.exec(trimmed);
  return fence?.[2] ?? trimmed;
}

function nextOpening(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) if (text[at] === "{" || text[at] === "[") return at;
  return -1;
}

/** The place after the bracket that closes the one at `start`, brackets in strings not counted; -1 without one. */
function closing(text: string, start: number): number {
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const char = text[at];
    if (quoted) {
      if (char === "\\") at += 1;
      else if (char === '"') quoted = false;
    } else if (char === '"') quoted = true;
    else if (char === "{" || char === "[") depth += 1;
    else if ((char === "}" || char === "]") && (depth -= 1) === 0) return at + 1;
  }
  return -1;
}
