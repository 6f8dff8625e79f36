/**
 * The token of a channel: read from its file by the child itself, held in memory only, and taken out of every text
 * that leaves the child.
 */
import type { ErrorRecord } from "../../src/contracts/errors.ts";

export { readSecret } from "../../src/contracts/token-file.ts";

/** Takes the secret out of a text: raw, URL-encoded, base64 and base64url, and its part after the bot's id. */
export type Redact = (text: string) => string;

export function redactor(secret: string | null): Redact {
  if (secret === null) return (text) => text;
  const key = secret.slice(secret.indexOf(":") + 1);
  const base64 = Buffer.from(secret).toString("base64");
  const forms = [
    secret,
    encodeURIComponent(secret),
    base64,
    base64.replace(/=+$/, ""),
    Buffer.from(secret).toString("base64url"),
  ];
  // The id before the colon is public; the rest alone is enough to be a leak.
  if (key.length >= 8) forms.push(key, encodeURIComponent(key));
  // Longest first, so that no rest of a longer form stays behind.
  const ordered = [...new Set(forms)].toSorted((a, b) => b.length - a.length);
  return (text) => ordered.reduce((rest, form) => rest.replaceAll(form, "[token]"), text);
}

/** The record with the secret taken out of every text in it, details included. */
export function redactRecord(record: ErrorRecord, redact: Redact): ErrorRecord {
  const clean = (value: unknown): unknown => {
    if (typeof value === "string") return redact(value);
    if (Array.isArray(value)) return value.map(clean);
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(Object.entries(value).map(([key, entry]) => [redact(key), clean(entry)]));
    }
    return value;
  };
  const { code, kind, message, remedy, details } = record;
  const texts = { code, kind, message: redact(message), remedy: redact(remedy) };
  return details === undefined ? texts : { ...texts, details: clean(details) as Record<string, unknown> };
}
