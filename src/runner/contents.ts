/** Values too large for a frame, on the runner's side: sent in parts before the frame that names them, read in parts. */
import { createHash } from "node:crypto";
import { canonicalJson } from "../contracts/canonical.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { CONTENT } from "../contracts/limits.ts";
import type { FromRunner } from "../contracts/protocol/runner.ts";
import type { ContentRef, JsonValue } from "../contracts/protocol/shared.ts";

type Put = Extract<FromRunner, { type: "content.put" }>;

/** Sends a value in parts; frames that name the result come after them on the same pipe. Throws `notCanonical`. */
export function sendContent(send: (frame: Put) => void, value: JsonValue): ContentRef {
  const content = Buffer.from(canonicalJson(value));
  const sha256 = createHash("sha256").update(content).digest("hex");
  for (let offset = 0; offset < content.length; offset += CONTENT.partBytes) {
    const data = content.subarray(offset, offset + CONTENT.partBytes).toString("base64");
    send({ type: "content.put", sha256, bytes: content.length, offset, data });
  }
  return { sha256, bytes: content.length };
}

/**
 * Reads a value that the server named, part by part, and verifies its length and digest before it is parsed.
 *
 * @param ask for the bytes from an offset on, at most one part.
 * @throws HoldpointError `contentInvalid` for a missing, short or different content; what `ask` rejects with.
 */
export async function readContent(ref: ContentRef, ask: (offset: number) => Promise<Buffer>): Promise<JsonValue> {
  const { bytes, sha256 } = ref;
  const hash = createHash("sha256");
  const parts: Buffer[] = [];
  for (let offset = 0; offset < bytes;) {
    const part = await ask(offset);
    const expected = Math.min(CONTENT.partBytes, bytes - offset);
    if (part.length !== expected)
      throw invalid(ref, `a part at offset ${offset} has ${part.length} bytes instead of ${expected}`);
    hash.update(part);
    parts.push(part);
    offset += part.length;
  }
  const seen = hash.digest("hex");
  if (seen !== sha256) throw invalid(ref, `it has the digest ${seen}`);
  return JSON.parse(Buffer.concat(parts).toString("utf8")) as JsonValue;
}

function invalid({ bytes, sha256 }: ContentRef, why: string): HoldpointError {
  return new HoldpointError("contentInvalid", `The content ${sha256} of ${bytes} bytes cannot be used: ${why}.`, {
    details: { sha256, bytes },
  });
}
