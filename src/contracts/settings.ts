/** Settings of a running workflow as data: who may change which path, and the request of a change. */
import { z } from "zod";
import { SETTINGS } from "./limits.ts";
import { jsonSchema } from "./protocol/shared.ts";

/** Who changes settings; the server says who, never the request. */
export const settingsActorSchema = z.enum(["session", "human", "controller", "policy"]);
export type SettingsActor = z.infer<typeof settingsActorSchema>;

export const settingsAccessSchema = z.enum(["read", "add", "remove", "replace"]);
export type SettingsAccess = z.infer<typeof settingsAccessSchema>;

const actors = z.array(settingsActorSchema);

/** One rule: what each kind of access to this path, and to what is below it, is allowed for. */
export const settingsRuleSchema = z.strictObject({
  pointer: z.string(),
  read: actors,
  add: actors,
  remove: actors,
  replace: actors,
});
export type SettingsRule = z.infer<typeof settingsRuleSchema>;

/** What the definition snapshot says of a workflow's settings. */
export const settingsSnapshotSchema = z.strictObject({
  description: z.string().max(SETTINGS.descriptionChars).optional(),
  rules: z.array(settingsRuleSchema).max(SETTINGS.rules),
  /** The workflow's own `parse` or `validateChange` judges every change before it is stored. */
  judged: z.literal(true).optional(),
});
export type SettingsSnapshot = z.infer<typeof settingsSnapshotSchema>;

/** One operation of RFC 6902. */
export const patchOperationSchema = z.union([
  z.strictObject({ op: z.enum(["add", "replace", "test"]), path: z.string(), value: jsonSchema }),
  z.strictObject({ op: z.literal("remove"), path: z.string() }),
  z.strictObject({ op: z.enum(["move", "copy"]), from: z.string(), path: z.string() }),
]);
export type PatchOperation = z.infer<typeof patchOperationSchema>;

/** A change as the workflow's own functions judge it. */
export const proposedSettingsSchema = z.strictObject({
  /** Full path of the mount; empty for the root. */
  mount: z.string(),
  before: jsonSchema,
  after: jsonSchema,
  actor: settingsActorSchema,
});
export type ProposedSettings = z.infer<typeof proposedSettingsSchema>;

/** A scope's settings at one moment. */
export const settingsVersionSchema = z.strictObject({
  /** `<run>:<mount path or $root>:<invocation>`. */
  scopeId: z.string(),
  /** Public number of the change; 0 is the initial value. */
  changeNumber: z.number().int().nonnegative(),
  value: jsonSchema,
  /** Digest of the value's canonical JSON. */
  hash: z.string(),
});
export type SettingsVersion = z.infer<typeof settingsVersionSchema>;

/** Id of a settings scope: `run-id:$root:1`, `run-id:review/fix:2`. The root has the empty mount path. */
export function settingsScopeId(runId: string, mount: string, invocation: number): string {
  return `${runId}:${mount === "" ? "$root" : mount}:${invocation}`;
}
