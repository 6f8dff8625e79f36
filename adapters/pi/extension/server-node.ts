/**
 * Which Node starts the server. Pi may run on another Node than the one that npm built the SQLite binding for, or on none at
 * all; so each candidate is asked whether it can open a database, before the server is started with it.
 */
import { spawn } from "node:child_process";
import { builtServer } from "../../../src/client/start.ts";
import { PI_CONNECT } from "../../../src/contracts/limits.ts";

let found: string | undefined;

/** The program for the server: the Node of this process if that works, else the one in PATH. */
export async function serverNode(): Promise<string> {
  found ??= (await works(process.execPath)) || !(await works("node")) ? process.execPath : "node";
  return found;
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
