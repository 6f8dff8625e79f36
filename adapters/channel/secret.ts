/**
 * The token of a channel: read from its file by the child itself, held in memory only, and taken out of every text
 * that leaves the child.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { HoldpointError, type ErrorRecord } from "../../src/contracts/errors.ts";
import { ADAPTER } from "../../src/contracts/limits.ts";

/**
 * Reads a token file: a regular file (no link), owned by this user, closed to all others, one line.
 * Throws `tokenFile` naming the path, what is wrong and how to correct it; never with any of the content.
 */
export function readSecret(path: string): string {
  const refuse = (what: string, remedy: string): never => {
    throw new HoldpointError("tokenFile", `Token file ${path} ${what}.`, { remedy, details: { path } });
  };
  let descriptor: number;
  try {
    // Without O_NONBLOCK, opening a named pipe would wait for a writer for ever.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unknown error";
    if (code === "ENOENT") return refuse("does not exist", `Write the token to ${path} and run \`chmod 600 ${path}\`.`);
    if (code === "ELOOP" || code === "EMLINK") {
      return refuse("is a symbolic link", "Name the file itself in tokenFile, not a link to it.");
    }
    return refuse(`cannot be opened (${code})`, `Make it readable for this user: \`chmod 600 ${path}\`.`);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return refuse("is not a regular file", "Name a plain file in tokenFile.");
    const user = process.getuid?.();
    if (user !== undefined && stat.uid !== user) {
      return refuse(
        `belongs to user id ${stat.uid}, not to ${user}, who runs the server`,
        `Run \`chown ${user} ${path}\`, or write the token to a file of your own.`,
      );
    }
    if ((stat.mode & 0o077) !== 0) {
      const mode = (stat.mode & 0o777).toString(8).padStart(3, "0");
      return refuse(`has mode ${mode}; others can use it`, `Run \`chmod 600 ${path}\`.`);
    }
    if (stat.size > ADAPTER.secretBytes) {
      return refuse(
        `has ${stat.size} bytes; the limit is ${ADAPTER.secretBytes}`,
        "Put only the token into the file, on one line.",
      );
    }
    const buffer = Buffer.alloc(ADAPTER.secretBytes);
    const secret = buffer.subarray(0, readSync(descriptor, buffer)).toString("utf8").trim();
    if (secret === "") return refuse("is empty", "Put the token into the file, on one line.");
    // A token goes into URLs and headers: no white space, nothing outside printable ASCII.
    if (!/^[\x21-\x7e]+$/.test(secret)) {
      return refuse("holds more than one plain token", "Put only the token into the file, on one line.");
    }
    return secret;
  } finally {
    closeSync(descriptor);
  }
}

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
