/** The secret of a home that addresses are made from: made once, in a file that only its owner can read. */
import { randomBytes } from "node:crypto";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { readSecret } from "../../contracts/token-file.ts";

/** Reads it, or makes it. Throws `tokenFile` for a file that others can read. */
export function homeKey(path: string): Buffer {
  if (!existsSync(path)) {
    const fresh = `${path}.new`;
    writeFileSync(fresh, `${randomBytes(32).toString("hex")}\n`, { mode: 0o600 });
    renameSync(fresh, path);
  }
  return Buffer.from(readSecret(path), "utf8");
}
