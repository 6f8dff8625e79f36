/** What was recorded of a Pi session, as lines for people: who said what, and what was called. Every single event is in `--json`. */
import type { SessionCapture, SessionRecord } from "../../../src/contracts/pi/session-record.ts";
import { clean } from "../../terminal/layout.ts";

export interface RecordedLine {
  /** Who, or what kind of thing, in one word. */
  readonly who: string;
  readonly text: string;
}

/** Null for what is part of something else, or only how it came about. */
export function recordedLine({ data, kind }: SessionRecord): RecordedLine | null {
  if (kind === "entry") return entryLine(data as Entry);
  if (kind !== "tool_execution_finished") return null;
  const { isError, toolName } = data as { readonly isError?: boolean; readonly toolName?: string };
  return isError === true ? { who: "tool", text: `${clean(toolName ?? "")} failed` } : null;
}

interface Entry {
  readonly type?: string;
  readonly customType?: string;
  readonly content?: unknown;
  readonly omittedBytes?: number;
  readonly message?: { readonly role?: string; readonly content?: unknown; readonly toolName?: string };
}

function entryLine({ content, customType, message, omittedBytes, type }: Entry): RecordedLine | null {
  if (omittedBytes !== undefined) return { who: "entry", text: `too large to be kept (${omittedBytes} bytes)` };
  if (type === "custom_message") return { who: "run", text: `${clean(customType ?? "")}: ${textOf(content)}` };
  if (type !== "message" || message === undefined) return null;
  const text = textOf(message.content);
  if (text === "") return null;
  if (message.role === "toolResult") return { who: "tool", text: `${clean(message.toolName ?? "")}: ${text}` };
  return { who: message.role === "assistant" ? "agent" : clean(message.role ?? "message"), text };
}

/** The texts and calls of a message, in one line. */
function textOf(content: unknown): string {
  if (typeof content === "string") return oneLine(content);
  if (!Array.isArray(content)) return "";
  const parts = content as readonly {
    readonly type?: string;
    readonly text?: string;
    readonly name?: string;
    readonly arguments?: unknown;
  }[];
  return oneLine(
    parts
      .map(({ arguments: given, name, text, type }) =>
        type === "toolCall" ? `calls ${name} ${JSON.stringify(given ?? {})}` : (text ?? ""),
      )
      .filter((part) => part !== "")
      .join(" "),
  );
}

function oneLine(text: string): string {
  return clean(text.replaceAll(/\s+/g, " ")).trim();
}

/** What is there, and what is missing. */
export function capturedLine(captures: readonly SessionCapture[]): string {
  if (captures.length === 0) return "Nothing was recorded of a session: the run has none, or nobody worked in it.";
  const sum = (field: "records" | "bytes" | "dropped"): number => captures.reduce((all, one) => all + one[field], 0);
  const missing = sum("dropped") === 0 ? "" : `, ${sum("dropped")} are missing`;
  const sessions = [...new Set(captures.map(({ sessionId }) => sessionId))].join(", ");
  return `Session ${sessions}: ${sum("records")} records, ${Math.ceil(sum("bytes") / 1_024)} KiB${missing}.`;
}
