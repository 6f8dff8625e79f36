/** How shell nodes are executed: as an action whose effect is one command. */
import type { CommandResult, CommandStream } from "../../contracts/command.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { SHELL, WORKFLOW } from "../../contracts/limits.ts";
import type { ActionContext, Update } from "../context.ts";
import type { ActionNode } from "../nodes.ts";
import type { ShellCommand, ShellNode, ShellResult, ShellUpdates } from "../shell.ts";
import { failureOf, timedOut } from "./failures.ts";
import type { CommandListeners } from "./host.ts";
import { CommandTimedOut, commandSpec } from "./meanwhile.ts";
import { describe, failing, reading, type Performance, type Performed } from "./performed.ts";
import { performAction } from "./perform-action.ts";

/** What is added to a command's own limit where it stands for the node's. */
const MARGIN_MS = 60_000;

type Run = (command: ShellCommand, listeners?: CommandListeners) => Promise<CommandResult>;

export function performShell(node: ShellNode, performance: Performance): Promise<Performed> {
  const { nodeId } = performance.position;
  return failing(nodeId, async () => {
    const command = await describe(performance, node.exec, WORKFLOW.nodeTimeoutMs);
    const { args, command: program, cwd } = reading(nodeId, () => commandSpec(command, nodeId));
    const action: ActionNode = {
      type: "action",
      effect: node.effect,
      timeoutMs: limitOf(node, command),
      // What an operator needs to judge it; environment and input may hold secrets.
      request: () => ({ command: program, args, ...(cwd === undefined ? {} : { cwd }) }),
      run: (context) => execute(node, command, context, nodeId),
    };
    return performAction(action, performance);
  });
}

async function execute(
  node: ShellNode,
  command: ShellCommand,
  context: ActionContext,
  nodeId: string,
): Promise<unknown> {
  const run: Run = context.runCommand;
  const result = await run(command, node.updates === undefined ? undefined : listenersOf(node.updates, context));
  const { startError, timedOut: late, ...shown } = result;
  if (late) throw new CommandTimedOut(timedOut(nodeId, command.timeoutMs ?? 0));
  if (startError !== undefined || (shown.exitCode !== 0 && command.allowNonZeroExit !== true)) {
    throw failed(nodeId, shown, startError);
  }
  return node.parse === undefined ? shown : node.parse(shown, context);
}

/** A command that may run longer than the default limit of a node is not cut short by it. */
function limitOf(node: ShellNode, command: ShellCommand): number | null | undefined {
  if (node.timeoutMs !== undefined) return node.timeoutMs;
  const own = command.timeoutMs;
  return own === undefined || own === null ? undefined : Math.max(own + MARGIN_MS, WORKFLOW.nodeTimeoutMs);
}

function listenersOf({ parseLine, streams = ["stdout"] }: ShellUpdates, context: ActionContext): CommandListeners {
  const publish = (update: Update): void => void context.publishUpdate(update).catch(() => undefined);
  return {
    streams,
    onLine(line: string, stream: CommandStream): void {
      try {
        const made = parseLine(line.slice(0, SHELL.lineBytes), stream);
        if (made === undefined || made === null) return;
        for (const update of Array.isArray(made) ? (made as readonly Update[]) : [made as Update]) publish(update);
      } catch {
        // Updates inform only: a parser that fails on a line changes nothing about the command.
      }
    },
  };
}

function failed(nodeId: string, result: ShellResult, startError: string | undefined): HoldpointError {
  const { exitCode, signal, stderr, stdout } = result;
  const how =
    startError === undefined
      ? signal === null
        ? `ended with exit code ${exitCode}`
        : `was ended by signal ${signal}`
      : `could not be started: ${startError}`;
  const tail = (text: string): string => text.slice(-4_000).replace(/^[\udc00-\udfff]/, "");
  return new HoldpointError("commandFailed", failureText(`The command of node "${nodeId}" ${how}.`), {
    details: { node: nodeId, exitCode, signal, stdout: tail(stdout), stderr: tail(stderr) },
  });
}

function failureText(text: string): string {
  return failureOf(new HoldpointError("commandFailed", text), "").message;
}
