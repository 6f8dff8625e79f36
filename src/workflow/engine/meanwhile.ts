/** What an action may do while it works: publish updates, and run commands that end with it. */
import type { CommandResult, CommandSpec } from "../../contracts/command.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { SHELL } from "../../contracts/limits.ts";
import { parseUpdate } from "../../contracts/update.ts";
import type { ActionContext, CommandOptions } from "../context.ts";
import type { Attempt } from "./attempt.ts";
import type { CommandListeners } from "./host.ts";
import { needed, type Performance } from "./performed.ts";

/** A command's own time was over: the node has timed out, not failed. */
export class CommandTimedOut {
  readonly error: HoldpointError;
  constructor(error: HoldpointError) {
    this.error = error;
  }
}

/** The methods of an action's context for one attempt. They refuse once it is over. */
export function meanwhile(
  attempt: Attempt,
  { host, position }: Performance,
): Pick<ActionContext, "publishUpdate"> & {
  runCommand(command: CommandOptions, listeners?: CommandListeners): Promise<CommandResult>;
} {
  const { nodeId, step, visit } = position;
  return {
    async publishUpdate(update) {
      if (attempt.over) {
        throw new HoldpointError("updateRefused", `Node "${nodeId}" is over; nothing can be said about it any more.`);
      }
      const envelope = parseUpdate(update);
      const publish = needed(host, "publishUpdate", `An update of node "${nodeId}"`);
      return publish.call(host, { step, nodeId, visit, envelope });
    },
    async runCommand(command, listeners) {
      if (attempt.over)
        throw new HoldpointError("nodeFailed", `Node "${nodeId}" is over; it can run no more commands.`);
      const spec = commandSpec(command, nodeId);
      const run = needed(host, "runShell", `A command of node "${nodeId}"`);
      return attempt.keep(run.call(host, spec, { step, nodeId, visit }, attempt.signal, listeners));
    },
  };
}

/**
 * A command with its defaults.
 *
 * @throws HoldpointError `nodeFailed` for a wrong form, with the limit and the value seen.
 */
export function commandSpec(given: CommandOptions, nodeId: string): CommandSpec {
  const wrong = (text: string): never => {
    throw new HoldpointError("nodeFailed", `The command of node "${nodeId}" ${text}.`);
  };
  const { args = [], command, cwd, env, maxOutputChars = SHELL.outputChars, stdin, timeoutMs = null } = given ?? {};
  if (typeof command !== "string" || command === "" || command.includes("\0")) wrong("has no name of a program");
  if (!Array.isArray(args) || args.some((arg) => typeof arg !== "string" || arg.includes("\0")))
    wrong("has args that are not all text");
  if (args.length > SHELL.args) wrong(`has ${args.length} args; the limit is ${SHELL.args}`);
  const long = args.find((arg) => arg.length > SHELL.argChars);
  if (long !== undefined) wrong(`has an arg of ${long.length} characters; the limit is ${SHELL.argChars}`);
  if (timeoutMs !== null && !(Number.isSafeInteger(timeoutMs) && timeoutMs > 0))
    wrong(`has timeoutMs ${timeoutMs}; it is a whole number above 0, or null`);
  if (!Number.isSafeInteger(maxOutputChars) || maxOutputChars < 0 || maxOutputChars > SHELL.outputChars) {
    wrong(`has maxOutputChars ${maxOutputChars}; it is 0 to ${SHELL.outputChars}`);
  }
  for (const [name, value] of Object.entries(env ?? {})) {
    if (typeof value !== "string" || name === "" || name.includes("="))
      wrong(`has the environment variable ${JSON.stringify(name)}, which is none`);
  }
  if (stdin !== undefined && typeof stdin !== "string") wrong("has a stdin that is no text");
  return Object.freeze({ command, args: [...args], cwd, env, stdin, timeoutMs, maxOutputChars });
}
