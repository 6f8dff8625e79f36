/**
 * The rules for a token file. Here because the adapter that uses a token and `config check`, which only wants to know
 * whether it will be usable, must judge it by the same ones.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { HoldpointError } from "./errors.ts";
import { ADAPTER } from "./limits.ts";

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
