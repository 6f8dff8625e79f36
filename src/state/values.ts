/**
 * JSON values in columns: canonical text, or `@sha256:<hex>` when the text is large and lives in `blobs`.
 * Canonical JSON never begins with `@`, so the two cannot be confused.
 */
import { canonicalJson } from "../contracts/canonical.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { VALUE } from "../contracts/limits.ts";
import type { ContentRef, JsonValue } from "../contracts/protocol/shared.ts";
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

/**
 * The column text for content that was stored before under its digest. The content must be canonical JSON; whoever stored
 * it has checked that. Throws `contentInvalid` when it is missing or has another length.
 */
export function referenceTo(db: Reader, { bytes, sha256 }: ContentRef): string {
  const row = db.get<{ bytes: number }>(
    "SELECT byte_length AS bytes FROM blobs WHERE blob_hash = ?",
    Buffer.from(sha256, "hex"),
  );
  if (row?.bytes === bytes) return REFERENCE + sha256;
  const seen = row === undefined ? "is not stored" : `has ${row.bytes} bytes, not ${bytes}`;
  throw new HoldpointError("contentInvalid", `The content with SHA-256 ${sha256} ${seen}.`, {
    details: { sha256, expected: bytes, seen: row?.bytes ?? null },
  });
}

/** The content behind a column's text that is larger than `limit` bytes; null for one that is not, which is not read. */
export function largeContent(db: Reader, text: string, limit: number): ContentRef | null {
  if (!text.startsWith(REFERENCE)) return null;
  const sha256 = text.slice(REFERENCE.length);
  const row = db.get<{ bytes: number }>(
    "SELECT byte_length AS bytes FROM blobs WHERE blob_hash = ?",
    Buffer.from(sha256, "hex"),
  );
  return row !== undefined && row.bytes > limit ? { sha256, bytes: row.bytes } : null;
}
