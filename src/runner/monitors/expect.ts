/** Whether what was seen is what a monitor expects, and the finding that says so. Nothing here does I/O. */
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { MONITOR } from "../../contracts/limits.ts";
import type { Finding } from "../../contracts/monitor/finding.ts";
import type { JsonExpectation } from "../../contracts/monitor/probe.ts";
import { lookUp } from "../../workflow/rules/path.ts";

/** What a probe saw. */
export interface Seen {
  readonly ok: boolean;
  readonly finding: Finding;
}

export const failed = (finding: Finding): Seen => ({ ok: false, finding });
export const FINE: Seen = { ok: true, finding: { code: "ok" } };

/** A text from outside, as much of it as a finding holds. */
export function detailOf(text: string): string {
  return cutToUnits(text.trim(), MONITOR.detailChars);
}

/** The first expectation that a JSON text does not meet; undefined when it meets all. */
export function jsonFinding(text: string, expectations: readonly JsonExpectation[] | undefined): Finding | undefined {
  if (expectations === undefined || expectations.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { code: "notJson" };
  }
  for (const expectation of expectations) {
    const seen = lookUp(value, expectation.path.slice(2).split("."));
    const expected = unmet(seen, expectation);
    if (expected === undefined) continue;
    const shown = seen === undefined ? null : detailOf(typeof seen === "string" ? seen : JSON.stringify(seen));
    return { code: "json", path: detailOf(expectation.path), expected: detailOf(expected), seen: shown };
  }
  return undefined;
}

/** What was expected, when it is not so. */
function unmet(seen: unknown, { equals, atLeast, atMost }: JsonExpectation): string | undefined {
  if (equals !== undefined && seen !== equals) return typeof equals === "string" ? equals : JSON.stringify(equals);
  if (atLeast !== undefined && !(typeof seen === "number" && seen >= atLeast)) return `≥ ${atLeast}`;
  if (atMost !== undefined && !(typeof seen === "number" && seen <= atMost)) return `≤ ${atMost}`;
  return undefined;
}
