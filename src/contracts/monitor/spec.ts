/**
 * A monitor as it is written in config.json or applied as a resource, checked and with its defaults filled in. Errors name the field,
 * the limit and the value seen.
 */
import { z } from "zod";
import { wallTimeSchema } from "../decision/policy.ts";
import { HoldpointError } from "../errors.ts";
import { ID_PATTERN } from "../ids.ts";
import { MONITOR } from "../limits.ts";
import { isTimeZone } from "../time-zone.ts";
import { EXPECTATIONS, TARGETS, type MonitorCheck, type ProbeType } from "./probe.ts";

const name = z.string().regex(ID_PATTERN.name, "must be letters, digits, dot, hyphen or underscore, at most 200");
const zone = z.string().refine(isTimeZone, 'must be an IANA time zone such as "Europe/Berlin"');
/** Checked by who knows cron, in the server. */
const cronLine = z.string().min(9).max(200);
const count = z.number().int().min(1).max(MONITOR.confirmations);

const windowSchema = z.union([
  /** Begins whenever the schedule comes. */
  z.strictObject({
    schedule: cronLine,
    minutes: z.number().int().min(1).max(MONITOR.windowMaxMinutes),
    timeZone: zone.optional(),
  }),
  /** Once. */
  z
    .strictObject({ from: z.iso.datetime({ offset: true }), to: z.iso.datetime({ offset: true }) })
    .refine(({ from, to }) => Date.parse(from) < Date.parse(to), "must begin before it ends"),
  /** Every day, by the clock on the wall. */
  z.strictObject({ daily: z.strictObject({ from: wallTimeSchema, to: wallTimeSchema }), timeZone: zone.optional() }),
]);
export type MaintenanceWindow = z.infer<typeof windowSchema>;

const remediationSchema = z.strictObject({
  /** A workflow by its name or path. Its input is `{monitor, finding, since, input}`. */
  workflow: z.string().min(1).max(400),
  /** Folder that the name is looked up from. */
  project: z.string().startsWith("/", "must be an absolute path").optional(),
  input: z.json().optional(),
  /** `ask`: somebody presses Repair. `auto`: it starts by itself, at most so often; this line is the recorded authority. */
  authority: z
    .union([z.literal("ask"), z.strictObject({ auto: z.strictObject({ perDay: z.number().int().min(1).max(24) }) })])
    .default("ask"),
});
export type Remediation = z.infer<typeof remediationSchema>;

const rawSchema = z.strictObject({
  /** How chats call it; left out: from its target. */
  title: z.string().min(1).max(MONITOR.titleChars).optional(),
  everySeconds: z.number().int().min(MONITOR.everyMinSeconds).max(MONITOR.everyMaxSeconds).optional(),
  schedule: cronLine.optional(),
  timeZone: zone.optional(),
  probe: z.looseObject({ type: z.string() }),
  expect: z.unknown().optional(),
  timeoutSeconds: z.number().int().min(1).max(MONITOR.commandTimeoutMaxSeconds).optional(),
  failAfter: count.optional(),
  recoverAfter: count.optional(),
  audience: name,
  severity: z.enum(["info", "warning", "critical"]).default("critical"),
  remind: z
    .strictObject({
      minutes: z.number().int().min(1).max(MONITOR.remindMaxMinutes),
      atMost: z.number().int().min(1).max(100).optional(),
    })
    .optional(),
  runbook: z.string().min(1).max(MONITOR.runbookChars).optional(),
  remediation: remediationSchema.optional(),
  maintenance: z.array(windowSchema).max(MONITOR.windows).default([]),
});

type Raw = z.infer<typeof rawSchema>;

/** With all defaults; what the database holds. */
export interface MonitorSpec extends Omit<Raw, "probe" | "expect" | "timeoutSeconds" | "failAfter" | "recoverAfter"> {
  readonly check: MonitorCheck;
  readonly timeoutSeconds: number;
  readonly failAfter: number;
  readonly recoverAfter: number;
}

/** Lines that say what is wrong with a value, or the checked spec. `where` begins each line: the path of the monitor. */
export function readMonitorSpec(value: unknown): { readonly spec: MonitorSpec } | { readonly problems: string[] } {
  const raw = rawSchema.safeParse(value);
  if (!raw.success) return { problems: issuesOf(raw.error) };
  const { probe, expect, failAfter, recoverAfter, timeoutSeconds, ...rest } = raw.data;
  const problems: string[] = [];
  if ((rest.everySeconds === undefined) === (rest.schedule === undefined))
    problems.push("everySeconds, schedule: give exactly one of them");
  if (!Object.hasOwn(TARGETS, probe.type)) {
    problems.push(`probe.type: "${probe.type.slice(0, 40)}" is unknown; known: ${Object.keys(TARGETS).join(", ")}`);
    return { problems };
  }
  const type = probe.type as ProbeType;
  const target = TARGETS[type].safeParse(probe);
  const wanted = EXPECTATIONS[type].safeParse(expect ?? {});
  if (!target.success) problems.push(...issuesOf(target.error, "probe"));
  if (!wanted.success) problems.push(...issuesOf(wanted.error, "expect"));
  const longest = type === "command" ? MONITOR.commandTimeoutMaxSeconds : MONITOR.timeoutMaxSeconds;
  const limit = timeoutSeconds ?? MONITOR.timeoutSeconds;
  if (limit > longest) problems.push(`timeoutSeconds: ${limit} is more than ${longest}, the most for a ${type} probe`);
  if (rest.schedule !== undefined && rest.everySeconds === undefined && type !== "heartbeat" && (failAfter ?? 1) > 10)
    problems.push(`failAfter: ${failAfter ?? 1} checks by a schedule take too long; the most is 10`);
  if (problems.length > 0 || !target.success || !wanted.success) return { problems };
  const network = (type === "http" || type === "tcp") && rest.schedule === undefined;
  return {
    spec: {
      ...rest,
      check: { type, target: target.data, expect: wanted.data } as MonitorCheck,
      timeoutSeconds: limit,
      failAfter: failAfter ?? (network ? MONITOR.failAfterNetwork : 1),
      recoverAfter: recoverAfter ?? (network ? MONITOR.recoverAfterNetwork : 1),
    },
  };
}

/** As `readMonitorSpec`; throws `monitorInvalid`. */
export function parseMonitorSpec(value: unknown, where: string): MonitorSpec {
  const read = readMonitorSpec(value);
  if ("spec" in read) return read.spec;
  throw monitorInvalid(where, read.problems);
}

export function monitorInvalid(where: string, problems: readonly string[]): HoldpointError {
  return new HoldpointError("monitorInvalid", `${where} is invalid: ${problems.slice(0, 5).join("; ")}.`, {
    details: { problems: problems.slice(0, 20) },
  });
}

function issuesOf(error: z.ZodError, under?: string): string[] {
  return error.issues.map((issue) => {
    const path = [...(under === undefined ? [] : [under]), ...issue.path.map(String)].join(".");
    return `${path || "(the monitor)"}: ${issue.message}`;
  });
}

/** What a monitor looks at, in short: for lists and cards. Never a header, a body or an argument. */
export function targetText({ target }: MonitorCheck): string {
  switch (target.type) {
    case "http": {
      // Without its query, which may hold a key.
      const { origin, pathname } = new URL(target.url);
      return `${target.method} ${origin}${pathname}`;
    }
    case "tcp":
      return `${target.host}:${target.port}`;
    case "tls-expiry":
      return `certificate of ${target.serverName ?? target.host}:${target.port}`;
    case "command":
      // Without its arguments, which may hold a key.
      return target.command.slice(target.command.lastIndexOf("/") + 1).slice(0, MONITOR.detailChars);
    case "file":
      return target.path;
    case "heartbeat":
      return "reports of a job";
  }
}

/** How people are told which thing it is: its title, or the host, file or name. */
export function monitorTitle(monitor: string, spec: MonitorSpec): string {
  if (spec.title !== undefined) return spec.title;
  const { target } = spec.check;
  if (target.type === "http") return new URL(target.url).hostname;
  if (target.type === "tcp" || target.type === "tls-expiry") return target.host;
  return monitor;
}
