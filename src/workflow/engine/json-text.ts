/**
 * JSON in a text: what a model submits is often JSON as text, in a code fence, or with words around it. Candidates are
 * found in the order in which they are likely meant, and never more than 64 places are tried.
 */
import { AGENT } from "../../contracts/limits.ts";

/** One reading of a text. */
export interface Candidate {
  readonly value: unknown;
  /** `whole`: the text is this JSON; `fence`: a code block is; `inside`: it stands among other words. */
  readonly from: "whole" | "fence" | "inside";
}

const FENCE = /```[A-Za-z0-9_-]*[ \t]*\r?\n([\s\S]*?)```/g;

/** Objects and lists that the text contains, likeliest first. Scalars are not looked for: words can look like them. */
export function* jsonCandidates(text: string): Generator<Candidate> {
  let scans = 0;
  const whole = parsed(text);
  scans++;
  if (whole !== undefined) {
    yield { value: whole, from: "whole" };
    return;
  }
  const fences = [...text.matchAll(FENCE)].map((match) => match[1] ?? "");
  // The last block is more often the result than one quoted before it.
  for (const body of fences.reverse()) {
    if (scans >= AGENT.jsonCandidates) return;
    scans++;
    const value = parsed(body);
    if (value !== undefined) yield { value, from: "fence" };
  }
  for (let at = 0; at < text.length && scans < AGENT.jsonCandidates;) {
    const begin = text.slice(at).search(/[{[]/);
    if (begin === -1) return;
    at += begin;
    scans++;
    const end = endOfJson(text, at);
    const value = end === -1 ? undefined : parsed(text.slice(at, end));
    if (value === undefined) {
      at++;
      continue;
    }
    yield { value, from: "inside" };
    at = end;
  }
}

/** The place after the bracket that closes the one at `begin`; -1 if it is not closed. Knows strings. */
function endOfJson(text: string, begin: number): number {
  let depth = 0;
  let inString = false;
  for (let i = begin; i < text.length; i++) {
    const char = text[i];
    if (inString) {
      if (char === "\\") i++;
      else if (char === '"') inString = false;
    } else if (char === '"') inString = true;
    else if (char === "{" || char === "[") depth++;
    else if ((char === "}" || char === "]") && --depth === 0) return i + 1;
  }
  return -1;
}

function parsed(text: string): object | undefined {
  const trimmed = text.trim();
  if (!trimmed.startsWith("{") && !trimmed.startsWith("[")) return undefined;
  try {
    return JSON.parse(trimmed) as object;
  } catch {
    return undefined;
  }
}
