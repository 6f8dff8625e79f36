/**
 * Identifiers: how they are made, how they are shortened for people, how a person's short form is resolved.
 */
import { randomBytes } from "node:crypto";
import { HoldpointError, type ErrorKind } from "./errors.ts";
import { sha256Hex } from "./sha256.ts";

export { sha256Hex } from "./sha256.ts";

/** Lower-case base32 without i, l, o, u: nothing that can be misread on a phone. */
const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

export const ID_PATTERN = {
  node: /^[A-Za-z_][A-Za-z0-9_-]*$/,
  run: /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/,
  choice: /^[A-Za-z_][A-Za-z0-9_-]{0,127}$/,
  name: /^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$/,
  telegram: /^-?[0-9]{1,20}$/,
} as const;

/** Source of randomness, a port so that a simulator can seed it. */
export type RandomBytes = (size: number) => Buffer;

function base32(bytes: Buffer, length: number): string {
  let text = "";
  for (let i = 0; i < length; i += 1) text += ALPHABET[(bytes[i] ?? 0) & 31];
  return text;
}

/**
 * A run id: `<UTC stamp>-<slug of at most 40 characters>-<8 base32>`, for example `20261130T081731Z-deploy-7k3fa9x2`.
 * `now` in milliseconds since the epoch.
 */
export function makeRunId(workflowName: string, now: number, random: RandomBytes = randomBytes): string {
  const stamp = new Date(now)
    .toISOString()
    .replace(/\.\d+Z$/, "Z")
    .replace(/[-:]/g, "");
  const slug =
    workflowName
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 40) || "run";
  return `${stamp}-${slug}-${base32(random(8), 8)}`;
}

/**
 * The id of a restart: `restart-<40 hex>-<8 base32>`, all of it from the digest of the restarted run and its revision, so that
 * the same restart has the same id.
 */
export function restartRunId(digest: Buffer): string {
  return `restart-${digest.toString("hex").slice(0, 40)}-${base32(digest.subarray(20), 8)}`;
}

/** The eight characters a person uses; `length` 4 unless ambiguous. */
export function shortRunId(runId: string, length = 4): string {
  const tail = runId.slice(runId.lastIndexOf("-") + 1);
  return tail.slice(0, length);
}

/** Short form of another record: kind letter, hyphen, six characters of the hash in its id, or of its id's hash when it has none. */
export function shortId(letter: string, id: string): string {
  const own = /-([0-9a-f]{40})$/.exec(id)?.[1];
  return `${letter}-${(own ?? sha256Hex(id)).slice(0, 6)}`;
}

/** `<type>-` and the first 40 hex digits of sha256(type NUL key): the id of a shared resource row. */
export function resourceId(type: string, key: string): string {
  return `${type}-${sha256Hex(`${type}\0${key}`).slice(0, 40)}`;
}

/**
 * Finds the one record a person meant by a full id, a unique prefix, or a short id.
 * Throws `notFoundKind` when nothing fits and `ambiguousId` with the candidates when several do.
 */
export function resolveId(
  given: string,
  candidates: readonly { readonly id: string; readonly short: string }[],
  what: string,
  notFoundKind: ErrorKind,
): string {
  const exact = candidates.find((candidate) => candidate.id === given);
  if (exact) return exact.id;
  const fits = candidates.filter((candidate) => candidate.id.startsWith(given) || candidate.short.startsWith(given));
  const only = fits[0];
  if (!only) throw new HoldpointError(notFoundKind, `No ${what} fits "${given}".`);
  if (fits.length > 1) {
    const list = fits.slice(0, 10).map((fit) => fit.id);
    throw new HoldpointError(
      "ambiguousId",
      `"${given}" fits ${fits.length} ${what}s: ${list.join(", ")}${fits.length > 10 ? ", …" : ""}.`,
      {
        details: { candidates: list },
      },
    );
  }
  return only.id;
}
