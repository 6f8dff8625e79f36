/**
 * SHA-256 by the quickest way that this Node has: the one-shot `crypto.hash` (20.12 and later) costs about a third of a Hash
 * object, and an answer or a step makes several.
 */
import * as crypto from "node:crypto";

type OneShot = (algorithm: string, data: string | Buffer, encoding: "hex") => string;
const oneShot = (crypto as { hash?: OneShot }).hash;

/** Lower-case hex SHA-256 of a text's UTF-8 bytes or of a buffer. */
export const sha256Hex: (data: string | Buffer) => string =
  oneShot === undefined
    ? (data) => crypto.createHash("sha256").update(data).digest("hex")
    : (data) => oneShot("sha256", data, "hex");

/** The 32 bytes of the same hash. */
export function sha256(data: string | Buffer): Buffer {
  return Buffer.from(sha256Hex(data), "hex");
}
