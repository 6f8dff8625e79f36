/**
 * Registers with Pi what it must know at once: tool, renderers, keys, commands, events. Handlers never throw, because Pi would
 * end; what is heavy is loaded when a session is there.
 */
import { registerMessages } from "./messages.ts";
import type { PiApi, PiContext, PiEvents, PiHandler } from "./pi-api.ts";
import type { CommandName } from "./backend.ts";
import { Session } from "./session.ts";
import { shortcuts } from "./shortcuts.ts";
import { TOOL_SHAPE } from "./tool/shape.ts";

/** One instance of the extension. */
export function wire(pi: PiApi): void {
  register(pi, new Session(pi));
}

function register(pi: PiApi, session: Session): void {
  const { life } = session;
  /** Hears an event: keeps the newest context, and what goes wrong is ours to keep. */
  const hear = <K extends keyof PiEvents>(event: K, handler: PiHandler<K>): void => {
    pi.on(event, (payload, context) => {
      if (life.over) return undefined;
      life.see(context);
      const result = life.try(event, () => handler(payload, context));
      return result instanceof Promise ? life.attempt(event, () => result) : result;
    });
  };
  hear("session_start", (_event, context) => session.start(context));
  hear("session_shutdown", (event) => session.end(event));
  hear("session_tree", () => session.branch());
  hear("input", (event, context) => session.input(event, context));
  hear("before_agent_start", (event) => session.beforeAgent(event));
  hear("agent_start", () => session.agentStart());
  hear("agent_end", (event) => session.agentEnd(event));
  hear("agent_settled", (event, context) => session.agentSettled(event, context));
  hear("message_end", (event) => {
    session.recorder.event("message_end", event);
    session.entries();
  });
  hear("turn_end", (event) => {
    session.entries();
    session.recorder.event("turn_end", event);
  });
  for (const event of RECORDED) hear(event, (payload) => session.recorder.event(event, payload));
  hear("tool_call", ({ toolName }) => {
    const reason = session.toolRefusal(toolName);
    return reason === undefined ? undefined : { block: true, reason };
  });

  pi.registerTool({
    ...TOOL_SHAPE,
    promptGuidelines: [...TOOL_SHAPE.promptGuidelines],
    execute: (toolCallId, params, signal, _onUpdate, context) => session.tool(toolCallId, params, signal, context),
  });
  registerMessages(pi, session.cards);
  for (const [name, key] of shortcuts())
    pi.registerShortcut(key, {
      description: SHORTCUTS[name],
      handler: (context) => life.try("shortcut", () => session.shortcut(name, context)),
    });
  for (const [name, description] of Object.entries(COMMANDS) as [CommandName, string][])
    pi.registerCommand(name, {
      description,
      handler: (line: string, context: PiContext) => session.command(name, line, "unknown", context),
    });
}

/** Heard only to be recorded. */
const RECORDED = [
  "turn_start",
  "message_start",
  "message_update",
  "tool_execution_start",
  "tool_execution_update",
  "tool_execution_end",
] as const;

const SHORTCUTS = {
  scrollUp: "Scroll the workflow widget up",
  scrollDown: "Scroll the workflow widget down",
  answer: "Answer the decision that waits",
} as const;

/** `/workflow` is not among them: see `Session.input`. Its prompt template lists it. */
const COMMANDS = {
  "workflow-channel": "Channels that carry decisions: status, setup, reload, recover",
  "resource-manager": "Resource managers: list, get, apply, reconcile, delete",
} as const;
