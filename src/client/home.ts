/**
 * Where an installation lives: the home folder and the paths in it that a client needs.
 */
import { homedir } from "node:os";
import { join, resolve } from "node:path";

import { HoldpointError } from "../contracts/errors.ts";
import { WIRE } from "../contracts/limits.ts";

/** The home: what is given, else HOLDPOINT_HOME, else `~/.holdpoint`; always absolute. */
export function resolveHome(given?: string, env: NodeJS.ProcessEnv = process.env): string {
  const named = given ?? env["HOLDPOINT_HOME"];
  return named === undefined || named === "" ? join(homedir(), ".holdpoint") : resolve(named);
}

/**
 * The server's socket in a home.
 *
 * @throws HoldpointError `homeInvalid` when the path is longer than a Unix socket path may be.
 */
export function socketPathOf(home: string): string {
  const path = join(home, "server.sock");
  checkSocketPath(path);
  return path;
}

/** @throws HoldpointError `homeInvalid` with the limit and the length seen. */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= WIRE.socketPathBytes) return;
  throw new HoldpointError(
    "homeInvalid",
    `The socket path ${path} has ${bytes} bytes; a Unix socket path may have ${WIRE.socketPathBytes}.`,
    { remedy: "Set HOLDPOINT_HOME to a shorter path.", details: { limit: WIRE.socketPathBytes, seen: bytes } },
  );
}

/** Where a server writes what it does. */
export function serverLogOf(home: string): string {
  return join(home, "logs", "server.log");
}

/** Where a server that was started on demand writes what it says before its log is open. */
export function startLogOf(home: string): string {
  return join(home, "logs", "server-start.log");
}
