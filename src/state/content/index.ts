/**
 * Content that is too large for a frame, between a runner and the database: stored under its digest before the change that
 * names it, and read in parts. Owns no table of its own (`blobs`). Must not: know what a value means.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { CONTENT } from "../../contracts/limits.ts";
import type { ContentRef } from "../../contracts/protocol/shared.ts";
import { defineCommand } from "../command.ts";
import type { ReadDb } from "../reading.ts";
import type { Claim } from "../tx.ts";

/** Stores canonical JSON whose form the caller has checked. Throws `claimLost`, `outputTooLarge`. */
const put = defineCommand("content.put", (tx, input: { claim: Claim; content: Buffer }): ContentRef => {
  const { claim, content } = input;
  tx.check(claim);
  if (content.length > CONTENT.valueBytes) {
    throw new HoldpointError(
      "outputTooLarge",
      `A value of ${content.length} bytes cannot be stored; the limit is ${CONTENT.valueBytes}.`,
      { details: { limit: CONTENT.valueBytes, seen: content.length } },
    );
  }
  return { sha256: tx.blob(content), bytes: content.length };
});

export const commands = { put } as const;

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** At most one part of a content from `offset` on. Throws `contentInvalid` for what is not stored. */
  part: (sha256: string, offset: number): Buffer => {
    const row = db.get<{ part: Buffer }>(
      `SELECT substr(content, ?, ${CONTENT.partBytes}) AS part FROM blobs WHERE blob_hash = ?`,
      offset + 1,
      Buffer.from(sha256, "hex"),
    );
    if (row === undefined)
      throw new HoldpointError("contentInvalid", `The content with SHA-256 ${sha256} is not stored.`);
    return row.part;
  },
});
