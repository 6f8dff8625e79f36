/**
 * Starts a server when none answers: detached from this process, its first words in a log file of the home.
 */
import pRetry, { AbortError } from "p-retry";
import { spawn, type ChildProcess } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

import { HoldpointError, fromErrorRecord, isHoldpointError } from "../contracts/errors.ts";
import { CLIENT } from "../contracts/limits.ts";
import { MARK_VARIABLE } from "../contracts/process-tree.ts";
import { errorRecordSchema } from "../contracts/protocol/shared.ts";
import { openConnection, type Connection } from "./connection.ts";
import { silentServer } from "./holder.ts";
import { serverLogOf, startLogOf } from "./home.ts";

const refusalSchema = z.strictObject({ ready: z.literal(false), error: errorRecordSchema });

/** The server's entry as it was built. */
export function serverEntry(): string {
  return builtServer("main.js");
}

/** An entry among the server's files; children run from `dist/`, also when this file runs from the sources. */
export function builtServer(entry: string): string {
  const folder = import.meta.url.endsWith(".ts") ? "../../dist/src/server/" : "../server/";
  return fileURLToPath(new URL(folder + entry, import.meta.url));
}

export interface StartOptions {
  readonly home: string;
  readonly socketPath: string;
  readonly clientId: string;
  /** Default: `serverEntry()`. */
  readonly entry?: string | undefined;
  /** The Node that runs it. Default: the one of this process. */
  readonly program?: string | undefined;
  /** Default CLIENT.startMs. */
  readonly timeoutMs?: number | undefined;
  /**
   * True: the server may end by itself when it is idle (start on demand). False: it stays until it is stopped.
   */
  readonly mayIdleOut: boolean;
}

/**
 * Spawns a server and waits until it greets on the socket. Two clients may do this at once: the server that loses the
 * race ends by itself, and both clients find the winner.
 *
 * @throws HoldpointError the server's own error when it refuses to start (for example `configInvalid`), else
 *   `serverUnavailable`: with its last words and the place of its logs, or with the pid of a silent server that holds
 *   the home.
 */
export async function startServer(options: StartOptions): Promise<Connection> {
  const child = spawnDetached(options);
  let ended: string | undefined;
  child.once("error", (error) => (ended = error.message));
  child.once("exit", (code, signal) => (ended = signal === null ? `exit code ${code}` : `signal ${signal}`));
  const timeoutMs = options.timeoutMs ?? CLIENT.startMs;
  const over = new AbortController();
  const late = (): HoldpointError => lateError(options.home, timeoutMs);
  const timer = setTimeout(() => over.abort(late()), timeoutMs);
  try {
    return await pRetry(() => attempt(options, () => ended), {
      retries: Number.POSITIVE_INFINITY,
      minTimeout: CLIENT.startPollMs,
      factor: 1,
      signal: over.signal,
    });
  } finally {
    clearTimeout(timer);
    child.unref();
  }
}

/** One look for a server. Throws an `AbortError` when the started one ended and no other is coming. */
async function attempt(options: StartOptions, ended: () => string | undefined): Promise<Connection> {
  // Read before the look: a server that ended before it cannot answer it, but another one may.
  const gone = ended();
  const connection = await tryOpen(options);
  if (connection !== undefined) return connection;
  const refusal = gone === undefined ? undefined : refusalOf(options.home);
  // Another client was faster: its server holds the home and will greet soon.
  if (gone === undefined || refusal?.kind === "serverRunning") throw new Error("no server answers yet");
  throw new AbortError(refusal ?? startError(options.home, `the started server ended (${gone})`));
}

async function tryOpen(options: StartOptions): Promise<Connection | undefined> {
  try {
    return await openConnection(options.socketPath, options.clientId);
  } catch (error) {
    if (isHoldpointError(error) && error.kind === "serverUnavailable") return undefined;
    throw error;
  }
}

function spawnDetached(options: StartOptions): ChildProcess {
  const log = startLogOf(options.home);
  let file: number;
  try {
    mkdirSync(options.home, { recursive: true, mode: 0o700 });
    mkdirSync(dirname(log), { recursive: true, mode: 0o700 });
    file = openSync(log, "w", 0o600);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HoldpointError("homeInvalid", `The home ${options.home} cannot be written: ${why}.`);
  }
  const env: NodeJS.ProcessEnv = { ...process.env, HOLDPOINT_HOME: options.home };
  // With this the server also says as JSON why it refuses to start, and the person gets that error itself.
  env["HOLDPOINT_READY_LINE"] = "1";
  if (options.mayIdleOut) env["HOLDPOINT_ON_DEMAND"] = "1";
  else delete env["HOLDPOINT_ON_DEMAND"];
  // An agent may have started this client; the server it finds is not part of that agent and must not end with it.
  delete env[MARK_VARIABLE];
  try {
    return spawn(options.program ?? process.execPath, [options.entry ?? serverEntry()], {
      // The home, not the caller's folder: a server must not keep a project folder (or a mount) busy.
      cwd: options.home,
      detached: true,
      stdio: ["ignore", file, file],
      env,
    });
  } finally {
    closeSync(file);
  }
}

/** Nobody answered in time: another server holds the home and is silent, or the started one did not get so far. */
function lateError(home: string, timeoutMs: number): HoldpointError {
  const refusal = refusalOf(home);
  if (refusal?.kind === "serverRunning") return silentServer(home, `no answer within ${timeoutMs} ms`);
  return refusal ?? startError(home, `the started server did not answer within ${timeoutMs} ms`);
}

function startError(home: string, why: string): HoldpointError {
  const words = lastWords(home);
  return new HoldpointError(
    "serverUnavailable",
    `No server runs for ${home}, and starting one failed: ${why}.${words === "" ? "" : ` It said: ${words}`}`,
    { remedy: `See ${serverLogOf(home)} and ${startLogOf(home)}, or run \`holdpoint server run\` to watch it start.` },
  );
}

/** The error with which a server refused to start, if it said so. */
function refusalOf(home: string): HoldpointError | undefined {
  for (const line of startLog(home).split("\n")) {
    if (!line.startsWith('{"ready":false')) continue;
    const said = refusalSchema.safeParse(parsed(line));
    if (said.success) return fromErrorRecord(said.data.error);
  }
  return undefined;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** The end of the start log, at most 600 characters, without the lines for programs. */
function lastWords(home: string): string {
  const lines = startLog(home)
    .split("\n")
    .filter((line) => !line.startsWith('{"ready":'));
  return lines.join("\n").trim().slice(-600);
}

function startLog(home: string): string {
  try {
    return readFileSync(startLogOf(home), "utf8");
  } catch {
    return "";
  }
}
