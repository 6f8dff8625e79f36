// Canonical JSON and digests: the one way in which this product turns a value into bytes that are hashed or compared.
//
// The form is that of RFC 8785: no white space, object keys in UTF-16 code-unit order, numbers and string escapes as
// ECMAScript's JSON writes them. It depends on no locale. What JSON cannot carry faithfully is refused, not dropped.

import { HoldpointError } from "./errors.ts";
import { VALUE } from "./limits.ts";
import { sha256Hex } from "./sha256.ts";

/** How a digest is written everywhere: the algorithm, a colon, 64 lower-case hex digits. */
export type Sha256Digest = `sha256:${string}`;

/** Shape of a digest, for schemas. */
export const DIGEST_PATTERN = /^sha256:[0-9a-f]{64}$/;

/** Thrown inside the fast writer only; `canonicalJson` then walks the value again to find the place. */
const REFUSED = Symbol("refused");

/**
 * Writes a value as canonical JSON.
 *
 * Accepts null, booleans, finite numbers, well-formed strings, arrays without holes and plain objects, at most
 * `VALUE.canonicalDepth` levels deep.
 *
 * @throws HoldpointError `notCanonical` with the path of the first offending value, for anything else:
 *   undefined, functions, symbols, bigint, NaN, infinities, lone surrogates (also in keys), cycles, class instances.
 */
export function canonicalJson(value: unknown): string {
  try {
    return write(value, 0);
  } catch (error) {
    if (error !== REFUSED) throw error;
    throw refusal(value);
  }
}

/** Hex SHA-256 of a text's UTF-8 bytes, 64 characters, without prefix. */
export function digestHex(text: string): string {
  return sha256Hex(text);
}

/**
 * Digest of a value: SHA-256 of its canonical JSON.
 *
 * @param options.trailingNewline hash one `\n` after the JSON, as the digests of a human decision do.
 * @throws HoldpointError as `canonicalJson` does.
 */
export function sha256Digest(value: unknown, options: { trailingNewline?: boolean } = {}): Sha256Digest {
  const text = canonicalJson(value);
  return `sha256:${digestHex(options.trailingNewline === true ? `${text}\n` : text)}`;
}

/** Whether a string holds no lone surrogate, so that UTF-8 can carry it unchanged. */
export function isWellFormed(text: string): boolean {
  return (text as unknown as { isWellFormed(): boolean }).isWellFormed();
}

function write(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      if (!isWellFormed(value)) throw REFUSED;
      return JSON.stringify(value);
    case "number":
      if (!Number.isFinite(value)) throw REFUSED;
      return value === 0 ? "0" : String(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth >= VALUE.canonicalDepth) throw REFUSED;
      return Array.isArray(value) ? writeArray(value, depth + 1) : writeObject(value, depth + 1);
    default:
      throw REFUSED;
  }
}

function writeArray(array: readonly unknown[], depth: number): string {
  if (array.length === 0) return "[]";
  let text = `[${write(array[0], depth)}`;
  for (let i = 1; i < array.length; i++) text += `,${write(array[i], depth)}`;
  return `${text}]`;
}

function writeObject(object: object, depth: number): string {
  if (!isPlain(object)) throw REFUSED;
  const keys = Object.keys(object);
  // `<` on strings and sort() without a comparator both compare UTF-16 code units, whatever the locale.
  for (let i = 1; i < keys.length; i++) {
    if ((keys[i] as string) < (keys[i - 1] as string)) {
      keys.sort();
      break;
    }
  }
  let text = "{";
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i] as string;
    if (i > 0) text += ",";
    text += `${quotedKey(key)}:${write((object as Record<string, unknown>)[key], depth)}`;
  }
  return `${text}}`;
}

/** Keys as they are written. Most are names from our own code, which come again and again; the others are not kept when there are many. */
const KEYS = new Map<string, string>();
const KEPT_KEYS = 1_024;
const KEPT_KEY_LENGTH = 64;

function quotedKey(key: string): string {
  const known = KEYS.get(key);
  if (known !== undefined) return known;
  if (!isWellFormed(key)) throw REFUSED;
  const quoted = JSON.stringify(key);
  if (KEYS.size < KEPT_KEYS && key.length <= KEPT_KEY_LENGTH) KEYS.set(key, quoted);
  return quoted;
}

/** A plain object of any realm: its prototype is null or the end of a prototype chain. */
function isPlain(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype === null || prototype === Object.prototype) return true;
  return Object.getPrototypeOf(prototype) === null;
}

/** Finds the first value that `write` refuses, in the order in which it writes, and says what is wrong with it. */
function refusal(root: unknown): HoldpointError {
  const found = locate(root, "$", []) ?? { path: "$", reason: "cannot be written" };
  return new HoldpointError("notCanonical", `The value at ${found.path} ${found.reason}.`, {
    details: { path: found.path },
  });
}

function locate(value: unknown, path: string, above: object[]): { path: string; reason: string } | undefined {
  if (typeof value === "string") {
    return isWellFormed(value) ? undefined : { path, reason: "is text with half of a surrogate pair" };
  }
  if (typeof value === "number") {
    return Number.isFinite(value) ? undefined : { path, reason: `is the number ${value}, which JSON cannot carry` };
  }
  if (typeof value === "boolean" || value === null) return undefined;
  if (typeof value !== "object") return { path, reason: `is of type ${typeof value}` };
  if (above.includes(value)) return { path, reason: "contains itself" };
  if (above.length >= VALUE.canonicalDepth) return { path, reason: `is deeper than ${VALUE.canonicalDepth} levels` };
  const inside = [...above, value];
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) {
      const found = locate(value[i], `${path}[${i}]`, inside);
      if (found !== undefined) return found;
    }
    return undefined;
  }
  if (!isPlain(value)) return { path, reason: `is an instance of ${value.constructor?.name ?? "a class"}` };
  for (const key of Object.keys(value).sort()) {
    const place = /^[A-Za-z_$][\w$]*$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
    if (!isWellFormed(key)) return { path: place, reason: "has a name with half of a surrogate pair" };
    const found = locate((value as Record<string, unknown>)[key], place, inside);
    if (found !== undefined) return found;
  }
  return undefined;
}
