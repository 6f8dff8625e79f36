/**
 * What is kept of an event of Pi: the small facts of it. What a message or a result says stands in Pi's entry, which is kept word for word, so
 * nothing that only repeats it, or grows with it, is kept here.
 */
import type { SessionRecord } from "../../../src/contracts/pi/session-record.ts";
import type { JsonValue } from "../../../src/contracts/protocol/shared.ts";
import type { PiEvents } from "./pi-api.ts";
import type { TurnStart } from "./turns.ts";

export type RecordedEvent =
  | "turn_start"
  | "turn_end"
  | "message_start"
  | "message_update"
  | "message_end"
  | "tool_execution_start"
  | "tool_execution_update"
  | "tool_execution_end";

const KINDS = {
  turn_start: "turn_started",
  turn_end: "turn_finished",
  message_start: "message_started",
  message_update: "assistant_event",
  message_end: "message_finished",
  tool_execution_start: "tool_execution_started",
  tool_execution_update: "tool_execution_updated",
  tool_execution_end: "tool_execution_finished",
} as const satisfies Record<RecordedEvent, SessionRecord["kind"]>;

/** Fields of Pi's events that grow with the message: all of it so far, again and again. */
const CUMULATIVE = new Set(["partial", "message", "error", "content", "toolCall"]);

/** Undefined for an event that says nothing. */
export function recordOf<K extends RecordedEvent>(
  event: K,
  payload: PiEvents[K],
  turn: TurnStart | undefined,
): SessionRecord | undefined {
  const data = factsOf(event, payload as never, turn);
  return data === undefined ? undefined : { at: Date.now(), kind: KINDS[event], entryId: null, data };
}

function factsOf(
  event: RecordedEvent,
  payload: Readonly<Record<string, unknown>>,
  turn: TurnStart | undefined,
): JsonValue | undefined {
  switch (event) {
    case "turn_start":
    case "turn_end":
      return { turnId: turn?.turnId ?? null, cause: (turn?.cause ?? null) as JsonValue };
    case "message_start":
    case "message_end": {
      const { customType, role, stopReason } = payload["message"] as PiEvents["message_end"]["message"];
      return {
        role,
        ...(customType === undefined ? {} : { customType }),
        ...(stopReason === undefined ? {} : { stopReason }),
      };
    }
    case "message_update": {
      const said = payload["assistantMessageEvent"];
      if (typeof said !== "object" || said === null) return undefined;
      return Object.fromEntries(Object.entries(said).filter(([field]) => !CUMULATIVE.has(field))) as JsonValue;
    }
    case "tool_execution_start":
    case "tool_execution_update":
    case "tool_execution_end": {
      const { args, durationMs, isError, toolCallId, toolName } = payload as Readonly<Record<string, JsonValue>>;
      const facts = { toolCallId, toolName, args, isError, durationMs };
      return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as JsonValue;
    }
  }
}
