/** The token file of a set-up: the one that is there, or one made from a hidden answer. */
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

import { HoldpointError } from "../../contracts/errors.ts";
import { readSecret } from "../../contracts/token-file.ts";
import type { Prompter } from "../prompts.ts";

/**
 * Sees to it that a usable token file is at `path`. Makes it, 0600 from the first byte on, when it is missing and somebody can be
 * asked. Returns whether it was made. Throws `tokenFile` with what is wrong.
 */
export async function prepareTokenFile(path: string, prompter: Prompter | null): Promise<boolean> {
  if (existsSync(path) || prompter === null) {
    readSecret(path);
    return false;
  }
  const token = await prompter.hidden(`${path} does not exist yet. Paste the token from @BotFather (it is not shown)`);
  // What people paste by mistake is mostly the whole message.
  if (!/^\d{3,20}:[A-Za-z0-9_-]{20,100}$/.test(token)) {
    throw new HoldpointError("tokenFile", "That has not the form of a bot token (digits, a colon, letters).", {
      remedy: "Copy only the token from @BotFather's message. Nothing was written.",
    });
  }
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  let file: number | null = null;
  try {
    file = openSync(path, "wx", 0o600);
    writeSync(file, `${token}\n`);
    fsyncSync(file);
  } catch (error) {
    // Only what was made here is taken away.
    if (file !== null) rmSync(path, { force: true });
    const why = error instanceof Error ? error.message : String(error);
    throw new HoldpointError("tokenFile", `Token file ${path} cannot be written: ${why}.`);
  } finally {
    if (file !== null) closeSync(file);
  }
  readSecret(path);
  return true;
}
