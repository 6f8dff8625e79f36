/**
 * JSON values in columns: canonical text, or `@sha256:<hex>` when the text is large and lives in `blobs`.
 * Canonical JSON never begins with `@`, so the two cannot be confused.
 */
import { canonicalJson } from "../contracts/canonical.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { VALUE } from "../contracts/limits.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import { sha256Hex } from "./hash.ts";
import type { Reader, Statements } from "./statements.ts";

const REFERENCE = "@sha256:";

/** Writes bytes to `blobs` unless they are there already. Returns their SHA-256 in hex. */
export function storeBlob(db: Statements, content: Buffer, now: number): string {
  const hex = sha256Hex(content);
  db.run(
    "INSERT INTO blobs (blob_hash, byte_length, content, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
    Buffer.from(hex, "hex"),
    content.length,
    content,
    now,
  );
  return hex;
}

/** The bytes behind a hash; `storageBroken` when they are missing. */
export function loadBlob(db: Reader, hex: string): Buffer {
  const row = db.get<{ content: Buffer }>("SELECT content FROM blobs WHERE blob_hash = ?", Buffer.from(hex, "hex"));
  if (row === undefined)
    throw new HoldpointError("storageBroken", `The content with SHA-256 ${hex} is missing in the database.`);
  return row.content;
}

/** A text as it stands in a column: itself, or a reference to the blob that holds it. */
export function packText(db: Statements, text: string, now: number): string {
  // A UTF-16 unit is at most 3 bytes, so most values are judged without counting bytes.
  if (text.length * 3 <= VALUE.inlineBytes || Buffer.byteLength(text) <= VALUE.inlineBytes) return text;
  return REFERENCE + storeBlob(db, Buffer.from(text), now);
}

/** The text that a column stands for. */
export function unpackText(db: Reader, text: string): string {
  return text.startsWith(REFERENCE) ? loadBlob(db, text.slice(REFERENCE.length)).toString() : text;
}

/** A value as a column's text. Throws `notCanonical` for what JSON cannot carry. */
export function packValue(db: Statements, value: unknown, now: number): string {
  return packText(db, canonicalJson(value), now);
}

/** The value of a column's text. */
export function unpackValue(db: Reader, text: string): JsonValue {
  return JSON.parse(unpackText(db, text)) as JsonValue;
}
