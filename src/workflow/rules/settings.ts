/**
 * Changes of settings: who may touch which path, and what comes out. The server calls it with the actor that it knows; the
 * authored parser runs elsewhere and may refuse the result, never change it.
 */
import { canonicalJson, sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { SETTINGS } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import {
  type PatchOperation,
  patchOperationSchema,
  type SettingsAccess,
  type SettingsActor,
  type SettingsSnapshot,
} from "../../contracts/settings.ts";
import { applyPatch } from "./json-patch.ts";
import { isAtOrAbove, parsePointer } from "./json-pointer.ts";

export interface SettingsChange {
  readonly settings: SettingsSnapshot;
  readonly actor: SettingsActor;
  readonly value: JsonValue;
  /** Of `value`. */
  readonly changeNumber: number;
  /** RFC 6902, as it came. */
  readonly patch: unknown;
  /** The version that the change was made for, if its author looked at one. */
  readonly expectedChangeNumber?: number | undefined;
}

/** The version after the change, of which `hash` is the digest of the value. */
export interface ChangedSettings {
  readonly value: JsonValue;
  readonly changeNumber: number;
  readonly hash: string;
  readonly operations: readonly PatchOperation[];
}

/**
 * Judges and applies a change (CONTRACTS 1.9).
 *
 * Denied by default; of several rules for a path the longest one decides alone. `copy` needs read of its source, `move`
 * read and remove; their target add, or replace where something is; `test` read. An operation on a whole object needs
 * its access at that path, and a rule deeper inside that denies it stands against it.
 *
 * @throws HoldpointError `settingsChanged` when the expected version is not the present one; `settingsRefused` with the
 *   limit and value seen, the path and what is missing for it, or the operation that does not fit the value.
 */
export function changeSettings(change: SettingsChange): ChangedSettings {
  const { actor, changeNumber, expectedChangeNumber, patch, settings } = change;
  if (expectedChangeNumber !== undefined && expectedChangeNumber !== changeNumber) {
    throw new HoldpointError(
      "settingsChanged",
      `The change was made for version ${expectedChangeNumber} of the settings; the present one is ${changeNumber}.`,
      { details: { expected: expectedChangeNumber, seen: changeNumber } },
    );
  }
  const operations = parsePatch(patch);
  let value = change.value;
  for (const [index, operation] of operations.entries()) {
    for (const [access, pointer] of accessesOf(operation, value)) {
      const denied = deniedPath(settings, actor, access, parsePointer(pointer));
      if (denied === undefined) continue;
      throw new HoldpointError(
        "settingsRefused",
        `Operation ${index + 1} (${operation.op}): ${actor} may not ${access} ${denied === "" ? "the whole value" : denied}.`,
        { details: { operation: index, access, path: denied, actor } },
      );
    }
    value = applyPatch(value, [operation]);
  }
  const bytes = Buffer.byteLength(canonicalJson(value));
  if (bytes > SETTINGS.valueBytes) throw tooLarge("The changed settings have", bytes, "bytes", SETTINGS.valueBytes);
  return { value, changeNumber: changeNumber + 1, hash: sha256Digest(value), operations };
}

/**
 * What of a value an actor may read: the parts that a rule allows, without the others; undefined when it is nothing.
 * A list is shown whole or not at all, so that its indices keep their meaning.
 */
export function readableSettings(
  settings: SettingsSnapshot,
  actor: SettingsActor,
  value: JsonValue,
): JsonValue | undefined {
  return readable(settings, actor, value, []);
}

function readable(
  settings: SettingsSnapshot,
  actor: SettingsActor,
  value: JsonValue,
  path: readonly string[],
): JsonValue | undefined {
  if (deniedPath(settings, actor, "read", path) === undefined) return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const shown: Record<string, JsonValue> = {};
  for (const [key, inner] of Object.entries(value)) {
    const part = readable(settings, actor, inner, [...path, key]);
    if (part !== undefined) shown[key] = part;
  }
  return Object.keys(shown).length > 0 ? shown : undefined;
}

function parsePatch(patch: unknown): PatchOperation[] {
  if (!Array.isArray(patch))
    throw new HoldpointError("settingsRefused", "A change of settings is a list of operations (RFC 6902).");
  if (patch.length > SETTINGS.operations)
    throw tooLarge("The change has", patch.length, "operations", SETTINGS.operations);
  const operations = patch.map((given: unknown, index) => {
    const parsed = patchOperationSchema.safeParse(given);
    if (parsed.success) return parsed.data;
    throw new HoldpointError(
      "settingsRefused",
      `Operation ${index + 1} is none of add, remove, replace, move, copy, test with their fields.`,
      {
        details: { operation: index },
      },
    );
  });
  const bytes = Buffer.byteLength(canonicalJson(operations));
  if (bytes > SETTINGS.patchBytes) throw tooLarge("The change has", bytes, "bytes", SETTINGS.patchBytes);
  return operations;
}

function accessesOf(operation: PatchOperation, value: JsonValue): [SettingsAccess, string][] {
  switch (operation.op) {
    case "test":
      return [["read", operation.path]];
    case "add":
      return [[addOrReplace(value, operation.path), operation.path]];
    case "remove":
    case "replace":
      return [[operation.op, operation.path]];
    case "copy":
      return [
        ["read", operation.from],
        [addOrReplace(value, operation.path), operation.path],
      ];
    case "move":
      return [
        ["read", operation.from],
        ["remove", operation.from],
        [addOrReplace(value, operation.path), operation.path],
      ];
  }
}

/** `add` to a member that is there replaces it; into a list it always adds. */
function addOrReplace(value: JsonValue, pointer: string): "add" | "replace" {
  const path = parsePointer(pointer);
  const last = path.pop();
  if (last === undefined) return "replace";
  let at: JsonValue | undefined = value;
  for (const key of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return "add";
    at = (at as Record<string, JsonValue>)[key];
  }
  const there = typeof at === "object" && at !== null && !Array.isArray(at) && Object.hasOwn(at, last);
  return there ? "replace" : "add";
}

/** The path for which the access is missing: the given one, or one inside it whose own rule denies. */
function deniedPath(
  settings: SettingsSnapshot,
  actor: SettingsActor,
  access: SettingsAccess,
  path: readonly string[],
): string | undefined {
  let best: { readonly length: number; readonly allowed: boolean } | undefined;
  let inside: string | undefined;
  for (const rule of settings.rules) {
    const segments = parsePointer(rule.pointer);
    const allowed = rule[access].includes(actor);
    if (isAtOrAbove(segments, path)) {
      if (best === undefined || segments.length > best.length) best = { length: segments.length, allowed };
    } else if (!allowed && isAtOrAbove(path, segments)) inside ??= rule.pointer;
  }
  if (best?.allowed !== true)
    return path.map((segment) => `/${segment.replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  return inside;
}

function tooLarge(begin: string, seen: number, unit: string, limit: number): HoldpointError {
  return new HoldpointError("settingsRefused", `${begin} ${seen} ${unit}; the limit is ${limit}.`, {
    details: { limit, seen },
  });
}
