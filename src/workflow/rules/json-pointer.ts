/** JSON Pointer (RFC 6901). */
import { HoldpointError } from "../../contracts/errors.ts";
import { SETTINGS } from "../../contracts/limits.ts";

/**
 * The unescaped segments of a pointer; none for the whole document.
 *
 * @throws HoldpointError `settingsRefused` for text that is no pointer, names of the prototype, or more than 1 KiB.
 */
export function parsePointer(pointer: string): string[] {
  const bytes = typeof pointer === "string" ? Buffer.byteLength(pointer) : 0;
  if (bytes > SETTINGS.pointerBytes) {
    throw new HoldpointError("settingsRefused", `A path has ${bytes} bytes; the limit is ${SETTINGS.pointerBytes}.`, {
      details: { limit: SETTINGS.pointerBytes, seen: bytes },
    });
  }
  if (pointer === "") return [];
  if (typeof pointer !== "string" || !pointer.startsWith("/") || /~(?![01])/.test(pointer)) {
    throw new HoldpointError(
      "settingsRefused",
      `${JSON.stringify(pointer)} is no JSON Pointer: "" or "/name/…", with ~0 for ~ and ~1 for /.`,
    );
  }
  const segments = pointer
    .slice(1)
    .split("/")
    .map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  const bad = segments.find(
    (segment, i) => segment === "__proto__" || (segment === "prototype" && segments[i - 1] === "constructor"),
  );
  if (bad !== undefined)
    throw new HoldpointError(
      "settingsRefused",
      `The path ${JSON.stringify(pointer)} goes through "${bad}", which is not allowed.`,
    );
  return segments;
}

/** Whether `prefix` is the path or lies above it, segment by segment. */
export function isAtOrAbove(prefix: readonly string[], path: readonly string[]): boolean {
  return prefix.length <= path.length && prefix.every((segment, i) => segment === path[i]);
}
