/**
 * Which Node starts the server. Pi may run on another Node than the one that npm built the SQLite binding for, or on none at
 * all; so each candidate is asked whether it can open a database, before the server is started with it.
 */
import { spawn } from "node:child_process";
import { basename } from "node:path";
import { builtServer } from "../../../src/client/start.ts";
import { HoldpointError } from "../../../src/contracts/errors.ts";
import { PI_CONNECT } from "../../../src/contracts/limits.ts";

let found: string | undefined;

/** The program for the server: the Node of this process if that works, else the one in PATH. Throws `serverUnavailable`. */
export async function serverNode(): Promise<string> {
  if (found !== undefined) return found;
  for (const program of nodeCandidates(process)) if (await works(program)) return (found = program);
  throw new HoldpointError(
    "serverUnavailable",
    "No Node.js was found that can start the server: install Node.js 20 or later so that `node` is in the PATH.",
  );
}

/** What may be a Node. Pi's own binary is none: started again, it would be one more Pi. */
export function nodeCandidates({ execPath, versions }: Pick<NodeJS.Process, "execPath" | "versions">): string[] {
  const isNode = versions["bun"] === undefined && basename(execPath).startsWith("node");
  return isNode ? [execPath, "node"] : ["node"];
}

function works(program: string): Promise<boolean> {
  return new Promise((resolve) => {
    const child = spawn(program, [builtServer("database-check.js"), ":memory:"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const timer = setTimeout(() => child.kill("SIGKILL"), PI_CONNECT.nodeCheckMs);
    let said = "";
    child.stdout.on("data", (chunk: Buffer) => (said += chunk.toString("utf8")));
    const answer = (ok: boolean): void => {
      clearTimeout(timer);
      resolve(ok);
    };
    child.once("error", () => answer(false));
    child.once("close", () => answer(said.includes('"problems"')));
  });
}
