/**
 * Values that pass from node to node: copied, frozen and measured in one walk, so that nobody can change what another
 * node produced and nothing arrives that JSON cannot carry.
 */
import { isWellFormed } from "../../contracts/canonical.ts";
import { HoldpointError, isA, messageOf } from "../../contracts/errors.ts";
import { VALUE } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";

export interface Measured {
  /** Deeply frozen. */
  readonly value: JsonValue;
  /** UTF-8 bytes of its JSON. */
  readonly bytes: number;
}

/** A refusal on its way up; each level adds its place. */
class Refused {
  readonly path: string[] = [];
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

/**
 * A frozen copy of a JSON value. `undefined` becomes null at the top and is left out in objects.
 *
 * @param what how messages call the value: `The output of node "plan"`.
 * @param maxBytes of JSON; default what fits a frame.
 * @throws HoldpointError `notCanonical` with the place of what JSON cannot carry; `outputTooLarge` with limit and size.
 */
export function toJson(given: unknown, what: string, maxBytes: number = VALUE.outputBytes): Measured {
  let value: JsonValue;
  try {
    value = copy(given ?? null, 0);
  } catch (error) {
    // A getter or a trap of the value threw.
    if (!isA(error, Refused)) throw new HoldpointError("notCanonical", `${what} cannot be read: ${messageOf(error)}.`);
    const path = `$${error.path.reverse().join("")}`;
    throw new HoldpointError("notCanonical", `${what} at ${path} ${error.reason}.`, { details: { path } });
  }
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > maxBytes) {
    throw new HoldpointError("outputTooLarge", `${what} has ${bytes} bytes of JSON; the limit is ${maxBytes}.`, {
      details: { limit: maxBytes, seen: bytes },
    });
  }
  return { value, bytes };
}

/** Freezes a value that came from JSON, with everything inside it. */
export function deepFreeze<T extends JsonValue>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const inner of Object.values(value)) deepFreeze(inner);
  }
  return value;
}

function copy(value: unknown, depth: number): JsonValue {
  switch (typeof value) {
    case "string":
      if (!isWellFormed(value)) throw new Refused("is text with half of a surrogate pair");
      return value;
    case "number":
      if (!Number.isFinite(value)) throw new Refused(`is the number ${value}, which JSON cannot carry`);
      return value;
    case "boolean":
      return value;
    case "object":
      if (value === null) return null;
      if (depth >= VALUE.canonicalDepth)
        throw new Refused(`is deeper than ${VALUE.canonicalDepth} levels, or contains itself`);
      return Array.isArray(value) ? copyArray(value, depth + 1) : copyObject(value, depth + 1);
    default:
      throw new Refused(`is of type ${typeof value}, which JSON cannot carry`);
  }
}

function copyArray(array: readonly unknown[], depth: number): JsonValue {
  const result: JsonValue[] = [];
  for (let i = 0; i < array.length; i++) {
    try {
      result.push(copy(array[i], depth));
    } catch (error) {
      if (isA(error, Refused) && error.path.length < 20) error.path.push(`[${i}]`);
      throw error;
    }
  }
  return Object.freeze(result) as JsonValue;
}

function copyObject(object: object, depth: number): JsonValue {
  const prototype: unknown = Object.getPrototypeOf(object);
  // A plain object of any realm; an instance of a class would silently lose what it is.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) {
    throw new Refused(`is an instance of ${object.constructor?.name ?? "a class"}; return plain data`);
  }
  const result: Record<string, JsonValue> = {};
  for (const key of Object.keys(object)) {
    const inner = (object as Record<string, unknown>)[key];
    if (inner === undefined) continue;
    try {
      if (!isWellFormed(key)) throw new Refused("has a name with half of a surrogate pair");
      const value = copy(inner, depth);
      if (key === "__proto__") Object.defineProperty(result, key, { value, enumerable: true });
      else result[key] = value;
    } catch (error) {
      if (isA(error, Refused) && error.path.length < 20) {
        error.path.push(/^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`);
      }
      throw error;
    }
  }
  return Object.freeze(result);
}
