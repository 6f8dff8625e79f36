/**
 * Evidence in prompts: data within bounds. What is too large becomes a reference that says what it is and how to get it,
 * so that no prompt grows with what a node found (CONTRACTS 1.7).
 */
import { canonicalJson, digestHex } from "../contracts/canonical.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { AGENT } from "../contracts/limits.ts";

/** What stands in a prompt for a value that is too large. */
export interface EvidenceRef {
  readonly $evidence: "holdpoint.evidence-ref.v1";
  /** Where it lies in the value that was given: `$.diff.files[3]`. */
  readonly path: string;
  readonly kind: "text" | "list" | "object";
  /** Characters of a text, elements of a list, fields of an object. */
  readonly size: number;
  /** SHA-256 (hex) of the text, or of the canonical JSON. */
  readonly sha256: string;
  /** The beginning of a text. */
  readonly begin?: string;
}

/**
 * A value as bounded text for a prompt: JSON in which texts longer than 4,000 characters, lists beyond 64 elements,
 * objects beyond 200 fields and anything deeper than 8 levels are references, and which has at most `maxChars` characters
 * in all. A text is taken as it is when it fits.
 *
 * @example
 * prompt: ({ outputs }) => `Assess these findings.\n\n${evidence(outputs.review)}`
 */
export function evidence(value: unknown, options: { readonly maxChars?: number } = {}): string {
  const { maxChars = AGENT.promptChars / 2 } = options;
  if (typeof value === "string")
    return value.length <= Math.min(AGENT.evidenceChars, maxChars) ? value : cutText(value, maxChars);
  // Bounds are halved until the whole fits: what is left out first is what is largest.
  for (let share = 1; share >= 1 / 64; share /= 2) {
    const text = JSON.stringify(bounded(value ?? null, "$", 0, share), null, 2);
    if (text.length <= maxChars) return text;
  }
  return cut(JSON.stringify(refOf(value, "$")), maxChars);
}

/** Throws `promptTooLarge` when a whole text of a step, of `size` characters, is longer than the limit. */
export function checkPrompt(size: number, nodeId: string): void {
  if (size <= AGENT.promptChars) return;
  throw new HoldpointError(
    "promptTooLarge",
    `The prompt of node "${nodeId}" has ${size} characters with its contract; the limit is ${AGENT.promptChars}.`,
    { details: { node: nodeId, limit: AGENT.promptChars, seen: size } },
  );
}

function bounded(value: unknown, path: string, depth: number, share: number): unknown {
  if (typeof value === "string") return value.length > AGENT.evidenceChars * share ? refOf(value, path) : value;
  if (typeof value !== "object" || value === null) return value;
  if (depth >= AGENT.evidenceDepth) return refOf(value, path);
  if (Array.isArray(value)) {
    const most = Math.max(1, Math.floor(AGENT.evidenceItems * share));
    const shown = value.slice(0, most).map((item, i) => bounded(item, `${path}[${i}]`, depth + 1, share));
    return value.length > most ? [...shown, refOf(value, path)] : shown;
  }
  const most = Math.max(1, Math.floor(AGENT.evidenceFields * share));
  const fields = Object.entries(value);
  const shown = fields.slice(0, most).map(([key, inner]) => [key, bounded(inner, `${path}.${key}`, depth + 1, share)]);
  if (fields.length > most) shown.push(["$evidence", refOf(value, path)]);
  return Object.fromEntries(shown);
}

function refOf(value: unknown, path: string): EvidenceRef {
  const base = { $evidence: "holdpoint.evidence-ref.v1", path: cut(path, 500) } as const;
  if (typeof value === "string") {
    return { ...base, kind: "text", size: value.length, sha256: digestHex(value), begin: cut(value, 200) };
  }
  const sha256 = digestHex(canonicalJson(value));
  if (Array.isArray(value)) return { ...base, kind: "list", size: value.length, sha256 };
  return { ...base, kind: "object", size: Object.keys(value as object).length, sha256 };
}

function cutText(text: string, maxChars: number): string {
  const note = `\n[${JSON.stringify({ ...refOf(text, "$"), begin: undefined })}]`;
  const room = Math.min(AGENT.evidenceChars, maxChars) - note.length;
  return room > 0 ? `${cut(text, room)}${note}` : cut(text, maxChars);
}

/** At most so many UTF-16 units, never half of a pair. */
function cut(text: string, units: number): string {
  return text.length <= units ? text : text.slice(0, Math.max(0, units)).replace(/[\ud800-\udbff]$/, "");
}
