/** Settings: values of a running workflow that people, models and managers may change while it runs. */
import { HoldpointError } from "../contracts/errors.ts";
import { SETTINGS } from "../contracts/limits.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import {
  settingsActorSchema,
  type SettingsActor,
  type SettingsRule,
  type SettingsSnapshot,
} from "../contracts/settings.ts";
import type { NodeContext } from "./context.ts";
import { checkFunction, checkTimeout, type NodeTypes } from "./node-types.ts";
import { parsePointer } from "./rules/json-pointer.ts";

/** Whom a kind of access is allowed for; what is not named is denied. */
export interface SettingsAccessOptions {
  readonly read?: readonly SettingsActor[];
  readonly add?: readonly SettingsActor[];
  readonly remove?: readonly SettingsActor[];
  readonly replace?: readonly SettingsActor[];
}

export interface WorkflowSettings<Settings = any, Input = any> {
  readonly initial: Settings | ((input: Input) => Settings);
  readonly parse: ((value: JsonValue) => unknown) | undefined;
  readonly validateChange:
    | ((change: { readonly before: any; readonly after: any; readonly actor: SettingsActor }) => unknown)
    | undefined;
  /** What the definition snapshot says of them. */
  readonly snapshot: SettingsSnapshot;
}

/**
 * A rule for one path of the settings (RFC 6901) and everything below it; a rule for a longer path takes its place there.
 * Whatever no rule allows is denied. `session` is a model, `human` a person, `controller` a resource manager, `policy` a
 * rule of the server.
 *
 * @example
 * allowSettingsPath("/limits/maxItems", { read: ["session", "human"], replace: ["human"] });
 */
export function allowSettingsPath(pointer: string, access: SettingsAccessOptions): SettingsRule {
  parsePointer(pointer);
  const actors = (kind: keyof SettingsAccessOptions): SettingsActor[] => {
    const given = access[kind] ?? [];
    for (const actor of given) {
      if (settingsActorSchema.safeParse(actor).success) continue;
      throw new HoldpointError(
        "workflowInvalid",
        `allowSettingsPath("${pointer}"): ${kind} has ${JSON.stringify(actor)}; the actors are ${settingsActorSchema.options.join(", ")}.`,
      );
    }
    return [...new Set(given)];
  };
  return Object.freeze({
    pointer,
    read: actors("read"),
    add: actors("add"),
    remove: actors("remove"),
    replace: actors("replace"),
  });
}

/**
 * The settings of a workflow. Every attempt of a node sees the version that stood when it began; a change affects later
 * attempts only. An included workflow has its own, anew for each invocation.
 *
 * @example
 * settings: workflowSettings({
 *   initial: { maxItems: 10 },
 *   parse: (value) => settingsSchema.parse(value),
 *   paths: [allowSettingsPath("/maxItems", { read: ["human"], replace: ["human"] })],
 * }),
 */
export function workflowSettings<Settings, Input = any>(options: {
  /** The first version, or a function of the workflow's input that makes it. */
  readonly initial: Settings | ((input: Input) => Settings);
  /** Throws when a value is not valid; what it throws is told to whoever changed it. It may not change the value. */
  readonly parse?: (value: JsonValue) => Settings;
  readonly paths: readonly SettingsRule[];
  /** Throws when this change is not wanted, although the value is valid. */
  readonly validateChange?: (change: {
    readonly before: Settings;
    readonly after: Settings;
    readonly actor: SettingsActor;
  }) => unknown;
  /** What they are for, told to whoever may change them. */
  readonly description?: string;
}): WorkflowSettings<Settings, Input> {
  const { description, initial, parse, paths, validateChange } = options;
  if (parse !== undefined) checkFunction(parse, "settings", "parse");
  if (validateChange !== undefined) checkFunction(validateChange, "settings", "validateChange");
  const seen = new Set<string>();
  for (const { pointer } of paths) {
    if (seen.has(pointer))
      throw new HoldpointError("workflowInvalid", `The settings have two rules for the path "${pointer}".`);
    seen.add(pointer);
  }
  if (paths.length > SETTINGS.rules) {
    throw new HoldpointError(
      "workflowInvalid",
      `The settings have ${paths.length} rules; the limit is ${SETTINGS.rules}.`,
    );
  }
  const snapshot: SettingsSnapshot = {
    ...(description === undefined ? {} : { description }),
    rules: [...paths],
    ...(parse === undefined && validateChange === undefined ? {} : { judged: true }),
  };
  return Object.freeze({ initial, parse, validateChange, snapshot });
}

export interface SettingsRouteNode<Input = any, Outputs extends object = any, Output = any> extends NodeTypes<
  Input,
  Outputs,
  Output
> {
  readonly type: "settingsRoute";
  readonly timeoutMs: number | null | undefined;
  readonly run: (context: NodeContext<any, any>) => unknown;
}

/**
 * A pure step that decides by the settings. Its result counts only if the settings are still the same when it is stored;
 * otherwise it runs again with the new ones.
 *
 * @example
 * const more = settingsRoute({ run: ({ outputs, settings }) => ({ again: outputs.count.n < settings.maxItems }) });
 */
export function settingsRoute<
  Output,
  Input = any,
  Outputs extends object = Record<string, any>,
  Settings = any,
>(options: {
  readonly timeoutMs?: number | null;
  readonly run: (context: NodeContext<Input, Outputs, Settings> & { readonly settings: Settings }) => Output;
}): SettingsRouteNode<Input, Outputs, Awaited<Output>> {
  const { run, timeoutMs } = options;
  checkFunction(run, "settingsRoute", "run");
  return Object.freeze({
    type: "settingsRoute",
    timeoutMs: checkTimeout(timeoutMs),
    run: run as (context: NodeContext) => unknown,
  });
}
