/**
 * JSON Patch (RFC 6902) on immutable values, with the checks that fast-json-patch 3.1.1 makes when it validates: a path
 * that leads nowhere is an error, an index beyond the end is an error, a failed `test` refuses the whole patch.
 */
import { canonicalJson } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { PatchOperation } from "../../contracts/settings.ts";
import { parsePointer } from "./json-pointer.ts";

type Container = JsonValue[] | { [key: string]: JsonValue };

/**
 * The value after all operations, in order. The given value is not changed; unchanged parts are shared with it.
 *
 * @throws HoldpointError `settingsRefused` with the number of the operation and why; nothing is applied then.
 */
export function applyPatch(value: JsonValue, operations: readonly PatchOperation[]): JsonValue {
  let document = value;
  for (const [index, operation] of operations.entries()) {
    try {
      document = apply(document, operation);
    } catch (error) {
      if (!(error instanceof HoldpointError)) throw error;
      throw new HoldpointError(
        "settingsRefused",
        `Operation ${index + 1} (${operation.op} ${operation.path || "the whole value"}): ${error.message}`,
        {
          details: { operation: index, op: operation.op, path: operation.path },
        },
      );
    }
  }
  return document;
}

function apply(document: JsonValue, operation: PatchOperation): JsonValue {
  const path = parsePointer(operation.path);
  switch (operation.op) {
    case "add":
      return add(document, path, operation.value);
    case "replace":
      valueAt(document, path);
      return path.length === 0
        ? operation.value
        : edit(document, path, (parent, key) => set(parent, key, operation.value));
    case "remove":
      valueAt(document, path);
      // As in fast-json-patch: removing everything leaves null.
      return path.length === 0 ? null : edit(document, path, take);
    case "test": {
      const seen = valueAt(document, path);
      if (canonicalJson(seen) !== canonicalJson(operation.value)) throw refused("the value there is another one.");
      return document;
    }
    case "copy":
      return add(document, path, valueAt(document, parsePointer(operation.from)));
    case "move": {
      const from = parsePointer(operation.from);
      const moved = valueAt(document, from);
      if (operation.path === operation.from) return document;
      if (path.length > from.length && from.every((segment, i) => segment === path[i])) {
        throw refused("a value cannot be moved into itself.");
      }
      return add(from.length === 0 ? null : edit(document, from, take), path, moved);
    }
  }
}

function add(document: JsonValue, path: readonly string[], value: JsonValue): JsonValue {
  if (path.length === 0) return value;
  return edit(document, path, (parent, key) => {
    if (!Array.isArray(parent)) return set(parent, key, value);
    const index = key === "-" ? parent.length : indexOf(parent, key, parent.length);
    return parent.toSpliced(index, 0, value);
  });
}

/** Copies the containers on the way to the last segment and lets `change` make the innermost one anew. */
function edit(
  document: JsonValue,
  path: readonly string[],
  change: (parent: Container, key: string) => Container,
): JsonValue {
  const [key, ...rest] = path as [string, ...string[]];
  if (typeof document !== "object" || document === null) throw refused("its parent is no object or list.");
  if (rest.length === 0) return change(document, key);
  return set(document, key, edit(child(document, key), rest, change));
}

function valueAt(document: JsonValue, path: readonly string[]): JsonValue {
  let at = document;
  for (const key of path) {
    if (typeof at !== "object" || at === null)
      throw refused(`"${key}" is looked for in something that is no object or list.`);
    at = child(at, key);
  }
  return at;
}

function child(parent: Container, key: string): JsonValue {
  if (Array.isArray(parent)) return parent[indexOf(parent, key, parent.length - 1)] as JsonValue;
  if (!Object.hasOwn(parent, key)) throw refused(`there is no "${key}".`);
  return parent[key] as JsonValue;
}

function set(parent: Container, key: string, value: JsonValue): Container {
  if (Array.isArray(parent)) return parent.with(indexOf(parent, key, parent.length - 1), value);
  return { ...parent, [key]: value };
}

function take(parent: Container, key: string): Container {
  if (Array.isArray(parent)) return parent.toSpliced(indexOf(parent, key, parent.length - 1), 1);
  const { [key]: _taken, ...rest } = parent;
  return rest;
}

function indexOf(list: readonly JsonValue[], key: string, last: number): number {
  const index = /^(?:0|[1-9][0-9]*)$/.test(key) ? Number(key) : -1;
  if (index < 0) throw refused(`"${key}" is no index of a list.`);
  if (index > last) throw refused(`index ${key} is beyond the end of a list with ${list.length} elements.`);
  return index;
}

function refused(text: string): HoldpointError {
  return new HoldpointError("settingsRefused", text);
}
