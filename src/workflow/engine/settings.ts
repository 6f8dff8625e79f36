/** What the author's own functions say of settings: they may refuse a value or a change, never alter it. */
import { canonicalJson } from "../../contracts/canonical.ts";
import { HoldpointError, isHoldpointError, messageOf } from "../../contracts/errors.ts";
import { SETTINGS } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ProposedSettings } from "../../contracts/settings.ts";
import type { WorkflowSettings } from "../settings.ts";
import { toJson } from "./values.ts";

/** Whose settings they are, in messages: those of the root or of a mount. */
export function whereOf(workflow: string, mount: string): string {
  return mount === "" ? `workflow "${workflow}"` : `mount "${mount}"`;
}

/**
 * Runs the parser over a value. `where` names the workflow or mount for people.
 *
 * @throws what the parser throws; HoldpointError `settingsRefused` when it gives another value back.
 */
export function checkSettings(settings: WorkflowSettings, value: JsonValue, where: string): void {
  if (settings.parse === undefined) return;
  const parsed = toJson(settings.parse(structuredClone(value)), `The settings of ${where}`, SETTINGS.valueBytes).value;
  if (canonicalJson(parsed) !== canonicalJson(value)) {
    throw new HoldpointError(
      "settingsRefused",
      `The parser of the settings of ${where} changed the value; it may only refuse it.`,
    );
  }
}

/**
 * Judges a change that the rules allow: the parser over the new value, then `validateChange`.
 *
 * @throws HoldpointError `settingsRefused` with the author's words, or that a function returned a promise.
 */
export function judgeSettings(
  settings: WorkflowSettings,
  { actor, after, before }: Omit<ProposedSettings, "mount">,
  where: string,
): void {
  try {
    checkSettings(settings, after, where);
    const said = settings.validateChange?.({ before: structuredClone(before), after: structuredClone(after), actor });
    if (!(said instanceof Promise)) return;
    // Nobody waits for it any more.
    said.catch(() => undefined);
  } catch (error) {
    if (isHoldpointError(error) && error.kind === "settingsRefused") throw error;
    throw new HoldpointError(
      "settingsRefused",
      `The change is refused by ${where}: ${messageOf(error).slice(0, 4_000)}`,
      {
        cause: error,
        remedy: "Make another change; the settings are as they were.",
      },
    );
  }
  throw new HoldpointError("settingsRefused", `validateChange of ${where} returned a promise.`, {
    remedy: "Make it a plain function; it may only look at what it is given.",
  });
}
