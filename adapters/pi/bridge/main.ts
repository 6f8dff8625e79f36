/**
 * The extension that runs inside the Pi of a headless step. It gives the model the tool `workflow` with the actions
 * `submit` and `update`, checks every call a second time, refuses tools that the step does not allow, and hands the call
 * over to the runner. It decides nothing.
 *
 * It must never throw from its factory (Pi would not start) nor from a callback (Pi would die); in doubt it says what is
 * wrong on stderr and refuses.
 */
import { TOOL_NAME } from "../../../src/contracts/agent-step.ts";
import {
  BRIDGE_VARIABLE,
  bridgeLaunchSchema,
  toolCallSchema,
  type BridgeLaunch,
} from "../../../src/contracts/pi/bridge.ts";
import { Channel } from "./channel.ts";
import type { PiApi, PiTool, PiToolResult } from "./pi-api.ts";
import { toolShape } from "./tool.ts";

/** Pi may run the factory again for a new session in the same process; launch document and pipe are those of the process. */
interface Life {
  readonly launch: BridgeLaunch;
  channel: Channel | undefined;
}
const LIFE = Symbol.for("holdpoint.bridge");
const lives = globalThis as unknown as { [LIFE]?: Life };

export default function bridge(pi: PiApi): void {
  try {
    const life = (lives[LIFE] ??= readLaunch());
    const { actions, allowedTools } = life.launch;
    pi.registerTool({
      name: TOOL_NAME,
      label: "Workflow",
      executionMode: "sequential",
      ...toolShape(actions),
      execute: (callId, params, signal) => execute(life, callId, params, signal),
    } satisfies PiTool);
    pi.on("tool_call", ({ toolName }) =>
      toolName === TOOL_NAME || allowedTools === null || allowedTools.includes(toolName)
        ? undefined
        : { block: true, reason: `The tool "${toolName}" is not allowed in this step.` },
    );
    // Sockets are not for factories: they may run without a session.
    pi.on("session_start", () => {
      try {
        life.channel ??= new Channel(life.launch);
      } catch (error) {
        complain(error);
      }
    });
  } catch (error) {
    complain(error);
  }
}

function readLaunch(): Life {
  const text = process.env[BRIDGE_VARIABLE];
  // What Pi starts has no use for it.
  delete process.env[BRIDGE_VARIABLE];
  if (text === undefined) throw new Error("not started by a workflow runner");
  return { launch: bridgeLaunchSchema.parse(JSON.parse(text)), channel: undefined };
}

/** What is thrown here becomes the tool's error result; a refusal may end the turn as well, which an error cannot. */
async function execute(
  life: Life,
  callId: string,
  params: unknown,
  signal: AbortSignal | undefined,
): Promise<PiToolResult> {
  const parsed = toolCallSchema.safeParse(params);
  if (!parsed.success) {
    const issues = parsed.error.issues
      .slice(0, 5)
      .map(({ message, path }) => `${path.join(".") || "call"}: ${message}`);
    throw new Error(`The call is not understood: ${issues.join("; ")}.`);
  }
  if (!life.launch.actions.includes(parsed.data.action)) {
    throw new Error(`This step has no action "${parsed.data.action}"; it has: ${life.launch.actions.join(", ")}.`);
  }
  if (life.channel === undefined) throw new Error("There is no connection to the workflow.");
  const { end, ok, text } = await life.channel.call(callId, parsed.data, signal);
  const details = { action: parsed.data.action };
  return { content: [{ type: "text", text }], details, isError: !ok, terminate: end };
}

function complain(error: unknown): void {
  process.stderr.write(`holdpoint bridge: ${error instanceof Error ? error.message : String(error)}\n`);
}
