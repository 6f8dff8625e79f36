/** One line that a person or program gave to a command of ours, and what a command may use to serve it. */
import type { Actions } from "../actions.ts";
import type { Answering } from "../answer/answering.ts";
import type { InputSource, PiContext } from "../pi-api.ts";
import type { Service } from "../service.ts";
import type { Setup } from "./setup.ts";
import { Refusal } from "../actions.ts";
import { piCommands as words } from "../../../../renderers/text/en.ts";
import type { JsonValue } from "../../../../src/contracts/protocol/shared.ts";

export interface CommandRequest {
  /** What follows the command's word, without blanks around it. */
  readonly line: string;
  /** Where it came from; a registered command is not told that by Pi. */
  readonly source: InputSource | "unknown";
  readonly context: PiContext;
}

export interface CommandTools {
  readonly service: Pick<Service, "call">;
  readonly actions: Actions;
  readonly answering: Answering;
  readonly setup: Setup;
  /** Errors of the extension itself. */
  readonly troubles: () => readonly string[];
  /** Parts with the view that the session's ended run is in. */
  readonly clear: () => Promise<string>;
}

/** Gives the text that is shown; empty for nothing. Throws a `Refusal` or an error of ours. */
export type Command = (request: CommandRequest, tools: CommandTools) => Promise<string>;

export function json(what: string, text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch (error) {
    throw new Refusal(words.notJson(what, error instanceof Error ? error.message : String(error)));
  }
}

/** The text, or the JSON value that it is. */
export function jsonOrText(text: string): JsonValue {
  try {
    return JSON.parse(text) as JsonValue;
  } catch {
    return text;
  }
}

/** Refuses with the usage when something that is needed is missing. */
export function needed(value: string, usage: string): string {
  if (value === "") throw new Refusal(words.needs(usage));
  return value;
}
