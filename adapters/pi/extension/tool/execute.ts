/** Executes a call of the tool: control over `server.sock`, results of steps over the link. A throw becomes the tool's error. */
import { piCommands as words } from "../../../../renderers/text/en.ts";
import { cutToUnits } from "../../../../src/contracts/decision/graphemes.ts";
import { PI_TOOL } from "../../../../src/contracts/limits.ts";
import { sha256Hex } from "../../../../src/contracts/sha256.ts";
import { told, type Actions } from "../actions.ts";
import type { SessionView } from "../../../../src/contracts/pi/session-view.ts";
import type { Asking, Reply } from "../link/conversation.ts";
import type { Life } from "../life.ts";
import type { Link } from "../link/link.ts";
import type { PiToolResult } from "../pi-api.ts";
import { parseCall, type SessionToolCall } from "./call.ts";

export interface ToolHost {
  readonly actions: Actions;
  readonly link: Pick<Link, "ask" | "live">;
  readonly life: Life;
  readonly view: () => SessionView | undefined;
}

export async function executeTool(
  host: ToolHost,
  toolCallId: string,
  params: unknown,
  signal: AbortSignal | undefined,
): Promise<PiToolResult> {
  const call = parseCall(params);
  const key = keyOf(toolCallId);
  try {
    if (call.action === "submit" || call.action === "update") return await stepResult(host, key, call, signal);
    return result(call, await control(host, key, call), true, false);
  } catch (error) {
    throw new Error(cutToUnits(told(error), PI_TOOL.errorChars), { cause: error });
  }
}

/** The name of a tool call in frames and as an idempotency key. Some models give ids longer than a frame takes. */
export function keyOf(toolCallId: string): string {
  return toolCallId.length > 128 ? sha256Hex(toolCallId) : toolCallId;
}

type StepCall = Extract<SessionToolCall, { action: "submit" | "update" }>;

function control(
  { actions, view }: ToolHost,
  toolCallId: string,
  call: Exclude<SessionToolCall, StepCall>,
): Promise<string> {
  // Repeated by Pi or after a loss, the same call is the same change.
  const options = { idempotencyKey: toolCallId };
  switch (call.action) {
    case "list":
      return list(actions, call.offset ?? 0);
    case "start":
      return actions.start(call.workflow, call.input ?? {}, options);
    case "status":
      return actions.status(call.runId);
    case "pause":
      return actions.pause(call.runId, options);
    case "resume":
      return actions.resume(call.runId, options);
    case "cancel":
      return actions.cancel(call.runId, options);
    case "restart":
      return actions.restart(call.runId, { ...options, expectedRevision: call.expectedRevision });
    case "answer": {
      const named = ({ decisionId, fingerprint }: SessionView["decisions"][number]): boolean =>
        call.requestId === decisionId || call.requestId === fingerprint;
      if (view()?.decisions.some(named) === true) throw new Error(words.answers.onlyPeople);
      return actions.answerCheckpoint(call.requestId, call.input, options);
    }
    case "change-settings": {
      const of = { run: call.runId, scope: call.scopeId, expected: call.expectedChangeNumber };
      return actions.changeSettings(of, call.patch, options);
    }
    case "queue-follow-up":
      return actions.queueFollowUp(call.runId, call.prompt, options);
    case "remove-follow-up":
      return actions.removeFollowUp(call.runId, call.followUpId, options);
  }
}

/** A page of names; what does not fit is on the next one. */
async function list(actions: Actions, offset: number): Promise<string> {
  const files = await actions.workflows();
  const lines: string[] = [];
  let chars = 0;
  for (const { name, origin } of files.slice(offset, offset + PI_TOOL.listItems)) {
    chars += name.length;
    if (chars > PI_TOOL.listChars) break;
    lines.push(`${name} (${origin})`);
  }
  const next = offset + lines.length;
  if (next < files.length) lines.push(words.moreWorkflows(files.length - next, next));
  return lines.length === 0 ? words.noWorkflows : lines.join("\n");
}

async function stepResult(
  host: ToolHost,
  toolCallId: string,
  call: StepCall,
  signal: AbortSignal | undefined,
): Promise<PiToolResult> {
  const asking: Asking =
    call.action === "submit"
      ? { type: "submit", toolCallId, requestId: call.requestId, output: call.output }
      : { type: "update", toolCallId, requestId: call.requestId, update: call.update };
  const reply = await within(host, asking, signal);
  return result(call, reply.text, reply.ok, reply.end);
}

/** The reply; a submission is validated for as long as that takes, but nobody waits for a lost connection for ever. */
async function within({ life, link }: ToolHost, asking: Asking, signal: AbortSignal | undefined): Promise<Reply> {
  let timer: NodeJS.Timeout | undefined;
  const over = AbortSignal.any([life.signal, ...(signal === undefined ? [] : [signal])]);
  const given = new Promise<never>((_resolve, reject) => {
    const abort = (): void => reject(new Error(words.stepAborted));
    const look = (): void => {
      if (!link.live) return reject(new Error(words.stepUnreachable));
      timer = life.after(PI_TOOL.connectionMs, "waiting for a reply", look);
    };
    if (over.aborted) return abort();
    over.addEventListener("abort", abort, { once: true });
    timer = life.after(PI_TOOL.connectionMs, "waiting for a reply", look);
  });
  try {
    return await Promise.race([link.ask(asking), given]);
  } finally {
    life.cancel(timer);
  }
}

function result({ action }: SessionToolCall, text: string, ok: boolean, end: boolean): PiToolResult {
  const shown = cutToUnits(text, PI_TOOL.textChars);
  return { content: [{ type: "text", text: shown }], details: { action }, isError: !ok, terminate: end };
}
