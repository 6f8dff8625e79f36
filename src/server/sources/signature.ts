/**
 * Whether a request was made by somebody who has the secret. Signatures are compared in constant time. What is signed with our own form
 * holds the time and the id of the request, so that neither can be changed; GitHub's form signs the body only.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import { SOURCE } from "../../contracts/limits.ts";
import type { WebhookSource } from "../../contracts/source.ts";

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
    const receiptId = one("x-github-delivery");
    if (!signed(one("x-hub-signature-256"), secret, [body])) return { refused: "the signature does not fit" };
    return isId(receiptId) ? { receiptId } : { refused: "it has no delivery id" };
  }
  const receiptId = one("x-holdpoint-id");
  const time = one("x-holdpoint-timestamp");
  if (!signed(one("x-holdpoint-signature"), secret, [`${time}.${receiptId}.`, body]))
    return { refused: "the signature does not fit" };
  if (!isId(receiptId)) return { refused: "it has no id" };
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

function isId(text: string): boolean {
  return text.length > 0 && text.length <= SOURCE.idChars && /^[\x21-\x7e]+$/.test(text);
}
