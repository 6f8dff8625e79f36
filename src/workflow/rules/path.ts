/**
 * The paths a switch may look at: `$.f` or `$output.f` in the node's output, `$result.f` in its result record.
 * Own properties only, so that a name like `constructor` finds nothing unless somebody put it there.
 */

export interface SwitchPath {
  /** What the fields are looked up in. */
  readonly root: "output" | "result";
  readonly fields: readonly string[];
}

const ROOTS = [
  ["$.", "output"],
  ["$output.", "output"],
  ["$result.", "result"],
] as const;

/** The parsed path, or undefined if the text is none. Fields are separated by dots and not empty. */
export function parseSwitchPath(text: string): SwitchPath | undefined {
  for (const [prefix, root] of ROOTS) {
    if (!text.startsWith(prefix)) continue;
    const fields = text.slice(prefix.length).split(".");
    return fields.every((field) => field !== "") ? { root, fields } : undefined;
  }
  return undefined;
}

/** The value at the path, undefined where a field is not an own property. */
export function lookUp(value: unknown, fields: readonly string[]): unknown {
  let at = value;
  for (const field of fields) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, field)) return undefined;
    at = (at as Record<string, unknown>)[field];
  }
  return at;
}
