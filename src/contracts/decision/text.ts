// The rules for every text that a person will read or has written: line ends, control characters, length.

import { isWellFormed } from "../canonical.ts";
import type { Problem } from "./issues.ts";

/** Controls that are never allowed: C0 without tab and LF, DEL, C1. */
// oxlint-disable-next-line no-control-regex -- finding control characters is the purpose
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Everything that shows nothing: white space of all kinds, zero-width characters, direction controls, fillers, the empty Braille cell. */
const INVISIBLE = /[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cf}\u2800]/gu;

/** Whether a reader sees anything of a text. */
export function isVisible(text: string): boolean {
  return text.replace(INVISIBLE, "") !== "";
}

/** CR LF and CR become LF. Nothing else is changed: a text is stored as it was written. */
export function normalizeLineEnds(text: string): string {
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

export interface TextRule {
  /** Whether LF and tab may occur. */
  readonly lines: boolean;
  /** Longest length in UTF-16 units. */
  readonly units: number;
  /** Whether it must hold something that can be seen. */
  readonly filled: boolean;
}

/** The first thing wrong with a text whose line ends are normalized, or undefined. */
export function textProblem(text: string, rule: TextRule, path: Problem["path"]): Problem | undefined {
  if (text.length > rule.units) {
    return {
      path,
      text: `has ${text.length} UTF-16 units; the limit is ${rule.units}`,
      limit: rule.units,
      seen: text.length,
    };
  }
  if (rule.filled && !isVisible(text)) {
    return { path, text: text.trim() === "" ? "is empty" : "consists of invisible characters only" };
  }
  if (!isWellFormed(text)) return { path, text: "has half of a surrogate pair" };
  const control = CONTROL.exec(text) ?? (rule.lines ? null : /[\n\t]/.exec(text));
  if (control === null) return undefined;
  const code = control[0].charCodeAt(0).toString(16).toUpperCase().padStart(4, "0");
  return { path, text: `has the control character U+${code} at unit ${control.index}, which is not allowed there` };
}
