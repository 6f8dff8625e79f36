/**
 * Sources: what wakes a managed resource from outside. A source names one resource, or says how its key is made of what came in. What it
 * brings is a hint that the resource is worth a look, never a command: nothing of a request reaches the manager.
 */
import { z } from "zod";
import type { Config } from "./config.ts";
import { messageOf } from "./errors.ts";
import { MONITOR, SOURCE } from "./limits.ts";
import { cron } from "./schedule.ts";
import { isTimeZone } from "./time-zone.ts";

const absolute = z.string().startsWith("/", "must be an absolute path").max(4_096);

const wakes = {
  /** Folder of the project whose resource it is. */
  project: absolute,
  resourceManager: z.string().regex(/^[a-z][a-z0-9-]*$/, "must be the name of a resource manager"),
} as const;
const fixedKey = z.string().min(1).max(SOURCE.keyChars);

const webhookSchema = z.strictObject({
  type: z.literal("webhook"),
  ...wakes,
  /** `{$.repository.name}#{$.number}`: text with values of the JSON that came. */
  key: fixedKey,
  /** A file of mode 0600 with the secret that requests are signed with. */
  secretFile: absolute,
  /** Whose form of signature: ours, or that of GitHub and those who do as it does. */
  signature: z.enum(["holdpoint", "github"]).default("holdpoint"),
});
const watchSchema = z.strictObject({
  type: z.literal("watch"),
  ...wakes,
  key: fixedKey,
  /** A file, or a folder with what is in it. */
  path: absolute,
  /** Folders inside folders. */
  depth: z.number().int().min(0).max(20).default(4),
});
const scheduleSchema = z.strictObject({
  type: z.literal("schedule"),
  ...wakes,
  key: fixedKey,
  schedule: z.string().min(9).max(200).optional(),
  everySeconds: z.number().int().min(MONITOR.everyMinSeconds).max(MONITOR.everyMaxSeconds).optional(),
  timeZone: z.string().refine(isTimeZone, 'must be an IANA time zone such as "Europe/Berlin"').optional(),
});
const sourceSchema = z.discriminatedUnion("type", [webhookSchema, watchSchema, scheduleSchema]);
export type Source = z.infer<typeof sourceSchema>;
export type WebhookSource = z.infer<typeof webhookSchema>;
export type WatchSource = z.infer<typeof watchSchema>;
export type ScheduleSource = z.infer<typeof scheduleSchema>;

export interface DefinedSources {
  readonly good: readonly { readonly name: string; readonly source: Source }[];
  readonly bad: readonly { readonly name: string; readonly problems: readonly string[] }[];
}

/** The sources of a configuration, each read by itself: a wrong one is told, and the others work. */
export function definedSources(config: Pick<Config, "sources" | "timeZone">): DefinedSources {
  const good: { name: string; source: Source }[] = [];
  const bad: { name: string; problems: readonly string[] }[] = [];
  for (const [name, value] of Object.entries(config.sources)) {
    const parsed = sourceSchema.safeParse(value);
    const problems = parsed.success
      ? scheduleTrouble(parsed.data, config.timeZone)
      : parsed.error.issues.map((issue) => `${issue.path.join(".") || "(the source)"}: ${issue.message}`);
    if (parsed.success && problems.length === 0) good.push({ name, source: parsed.data });
    else bad.push({ name, problems });
  }
  return { good, bad };
}

function scheduleTrouble(source: Source, zone: string): string[] {
  if (source.type !== "schedule") return [];
  if ((source.everySeconds === undefined) === (source.schedule === undefined))
    return ["everySeconds, schedule: give exactly one of them"];
  if (source.schedule === undefined) return [];
  try {
    cron(source.schedule, source.timeZone ?? zone);
    return [];
  } catch (error) {
    return [`schedule: ${messageOf(error)}`];
  }
}

const PLACE = /\{\$((?:\.[^.{}\s]+)+)\}/g;

/** The key of a request, or undefined when a value that it is made of is not there or no short text. */
export function keyOf(template: string, body: unknown): string | undefined {
  let whole = true;
  const key = template.replace(PLACE, (_, path: string) => {
    let at: unknown = body;
    for (const field of path.slice(1).split("."))
      at =
        typeof at === "object" && at !== null && Object.hasOwn(at, field)
          ? (at as Record<string, unknown>)[field]
          : undefined;
    if ((typeof at === "string" && at !== "") || typeof at === "number") return String(at);
    whole = false;
    return "";
  });
  return whole && key.length <= SOURCE.keyChars ? key : undefined;
}
