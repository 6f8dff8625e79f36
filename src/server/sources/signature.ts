/**
 * Whether a request was made by somebody who has the secret. Signatures are compared in constant time. What is signed with our own form
 * holds the time and the id of the request, so that neither can be changed; GitHub's form signs the
 * body only, so that there an equal body is the same request.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { sha256Hex } from "../../contracts/ids.ts";
import { SOURCE } from "../../contracts/limits.ts";
import type { WebhookSource } from "../../contracts/source.ts";

/** No dot, which parts the signed pieces: an id with one could take over a piece of the body. */
const ID = new RegExp(`^[A-Za-z0-9_-]{1,${SOURCE.idChars}}$`);
const DELIVERY = new RegExp(`^[\\x21-\\x7e]{1,${SOURCE.idChars}}$`);

export interface SignedRequest {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

export type SignatureVerdict = { readonly receiptId: string } | { readonly refused: string };

export function verify(
  form: WebhookSource["signature"],
  secret: string,
  { body, headers }: SignedRequest,
  now: number,
): SignatureVerdict {
  const one = (name: string): string => {
    const value = headers[name];
    return typeof value === "string" ? value.trim() : "";
  };
  if (form === "github") {
    if (!signed(one("x-hub-signature-256"), secret, [body])) return { refused: "the signature does not fit" };
    if (!DELIVERY.test(one("x-github-delivery"))) return { refused: "it has no delivery id" };
    // The delivery id is not signed: whoever caught a request could send it again under another one.
    return { receiptId: `body:${sha256Hex(body)}` };
  }
  const receiptId = one("x-holdpoint-id");
  const time = one("x-holdpoint-timestamp");
  if (!signed(one("x-holdpoint-signature"), secret, [`${time}.${receiptId}.`, body]))
    return { refused: "the signature does not fit" };
  if (!ID.test(receiptId)) return { refused: "its id is not letters, digits, hyphen and underscore" };
  const apart = Math.abs(Number(time) * 1_000 - now);
  if (!/^\d{1,12}$/.test(time) || apart > SOURCE.clockSkewMs) return { refused: "its time is not ours" };
  return { receiptId };
}

/** `sha256=<hex>` over the pieces. */
export function sign(secret: string, pieces: readonly (string | Buffer)[]): string {
  const mac = createHmac("sha256", secret);
  for (const piece of pieces) mac.update(piece);
  return `sha256=${mac.digest("hex")}`;
}

function signed(given: string, secret: string, pieces: readonly (string | Buffer)[]): boolean {
  return sameText(given, sign(secret, pieces));
}

/** In a time that tells nothing of where they differ. */
export function sameText(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
