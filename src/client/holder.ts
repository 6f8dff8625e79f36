/**
 * Who holds a home: the pid that its server wrote down, for saying which process does not answer.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";

import { HoldpointError } from "../contracts/errors.ts";
import { serverLogOf } from "./home.ts";

const holderSchema = z.looseObject({ pid: z.number().int().positive() });

/** The pid in `server.json` of a home, if that process is alive. */
export function holderOf(home: string): number | undefined {
  try {
    const { pid } = holderSchema.parse(JSON.parse(readFileSync(join(home, "server.json"), "utf8")));
    process.kill(pid, 0);
    return pid;
  } catch {
    return undefined;
  }
}

/** The error for a server that is there but says nothing: `serverUnavailable`, with `details.silent`. */
export function silentServer(home: string, why: string): HoldpointError {
  const pid = holderOf(home);
  const details = { silent: true, ...(pid === undefined ? {} : { pid }) };
  const see = `See ${serverLogOf(home)}`;
  return pid === undefined
    ? new HoldpointError("serverUnavailable", `A server holds ${home} but does not answer: ${why}.`, {
        remedy: `${see}, and repeat the command; if it stays silent, find its process and end it.`,
        details,
      })
    : new HoldpointError("serverUnavailable", `pid ${pid} holds ${home} but does not answer: ${why}.`, {
        remedy: `${see}; if it stays silent, \`kill -9 ${pid}\` loses nothing that was acknowledged.`,
        details,
      });
}
