/** Entering scopes: the input of an included workflow is made, and the first version of its settings. */
import { HoldpointError, isHoldpointError, messageOf, type ErrorRecord } from "../../contracts/errors.ts";
import { SETTINGS, WORKFLOW } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { CompiledScope } from "../compile.ts";
import { Attempt, type RunMemory } from "./attempt.ts";
import { failureOf } from "./failures.ts";
import { checkSettings, whereOf } from "./settings.ts";
import type { MadeInput } from "./scopes.ts";
import type { EngineTimers } from "./timers.ts";
import { toJson } from "./values.ts";

/**
 * The input of a mount: its `input` function over the parent's context, then the child's parser. Never rejects; what went
 * wrong fails the first node of the mount.
 */
export async function makeInput(
  compiled: CompiledScope,
  memory: RunMemory,
  timers: EngineTimers,
  maxBytes: number | undefined,
): Promise<MadeInput> {
  const { definition, include, mount } = compiled;
  // A parent without an input cannot make one for its children.
  if (memory.scope.input?.kind === "failed") return memory.scope.input;
  const attempt = new Attempt(mount, memory, timers);
  const make = async (): Promise<unknown> => {
    const given = await include?.input?.(attempt.context);
    const value = toJson(given, `The input for mount "${mount}"`, maxBytes).value;
    return definition.input === undefined ? value : definition.input(value);
  };
  const called = await attempt.call(make, WORKFLOW.nodeTimeoutMs);
  if (called.kind === "timedOut") return failed(mount, "its function took too long");
  if (called.kind === "threw") return failed(mount, messageOf(called.error));
  try {
    return { kind: "made", value: toJson(called.value, `The input of mount "${mount}"`, maxBytes).value };
  } catch (error) {
    return failed(mount, messageOf(error));
  }
}

function failed(mount: string, why: string): MadeInput {
  const error = new HoldpointError(
    "includeInput",
    `The input of mount "${mount}" cannot be made: ${why.slice(0, 4_000)}`,
    {
      details: { mount },
    },
  );
  return { kind: "failed", error: error.toRecord() };
}

/**
 * The first version of a scope's settings.
 *
 * @returns the value, or the error of a function or parser that threw, or changed the value.
 */
export function initialSettings(
  { definition, mount }: CompiledScope,
  input: JsonValue,
): { readonly value: JsonValue } | { readonly error: ErrorRecord } {
  const { settings } = definition;
  const where = whereOf(definition.name, mount);
  try {
    const made: unknown =
      typeof settings?.initial === "function"
        ? (settings.initial as (input: JsonValue) => unknown)(input)
        : settings?.initial;
    const value = toJson(made, `The settings of ${where}`, SETTINGS.valueBytes).value;
    if (settings !== undefined) checkSettings(settings, value, where);
    return { value };
  } catch (error) {
    if (isHoldpointError(error)) return { error: failureOf(error, where) };
    return {
      error: new HoldpointError(
        "settingsRefused",
        `The first settings of ${where} are refused: ${messageOf(error).slice(0, 4_000)}`,
      ).toRecord(),
    };
  }
}
