/**
 * `holdpoint.config.v1`: people, audiences, Telegram profiles and server settings, in one file.
 * There is no default audience; a name that is used but not defined is an error at load.
 */
import { normalize } from "node:path";
import { z } from "zod";
import { wallTimeSchema } from "./decision/policy.ts";
import { HoldpointError, messageOf } from "./errors.ts";
import { ID_PATTERN } from "./ids.ts";
import { languageSchema } from "./language.ts";
import { DECISION, DOUBT, MONITOR, POLICY, SOURCE } from "./limits.ts";
import { parseJsonText } from "./json-text.ts";
import { nearest } from "./nearest.ts";
import { isTimeZone } from "./time-zone.ts";

const name = z.string().regex(ID_PATTERN.name, "must be letters, digits, dot, hyphen or underscore, at most 200");
const telegramId = z.string().regex(ID_PATTERN.telegram, "must be a numeric Telegram id in quotes");

const personSchema = z.strictObject({
  /** How chats show this person. */
  name: z.string().min(1).max(100),
  /** Numeric Telegram user ids of this person. */
  telegram: z.array(telegramId).default([]),
  /** IANA zone of this person, for times in what is sent to them alone. */
  timeZone: z.string().optional(),
  /** Of what is sent to this person alone. */
  language: languageSchema.optional(),
  /** Users of this machine that are this person, for answers at the server's own terminal and in Pi: `uid:1000`. */
  terminal: z
    .array(z.string().regex(/^uid:[0-9]{1,10}$/, 'must be "uid:" and the number that `id -u` prints'))
    .optional(),
});

/** What becomes of a message whose arrival the service did not confirm. */
const onAmbiguousSchema = z.union(
  [
    /** Nothing is sent again before evidence or a person says what happened. */
    z.literal("wait"),
    /** After this time it is sent again, saying that it may be a repeat. */
    z.strictObject({ resendAfterMs: z.number().int().min(DOUBT.resendMinMs).max(DOUBT.resendMaxMs) }),
  ],
  `must be "wait", or {"resendAfterMs": n} with n from ${DOUBT.resendMinMs} to ${DOUBT.resendMaxMs}`,
);
export type OnAmbiguous = z.infer<typeof onAmbiguousSchema>;
const minutes = z.number().int().min(1).max(POLICY.waitMinutes);

/** How an audience decides; docs/audiences.md tells it for people. */
const audiencePolicySchema = z.strictObject({
  /** Different persons that must name the same choice; with 1 the first valid answer decides. */
  quorum: z.number().int().min(1).max(DECISION.quorum).default(1),
  /** Ids of choices that one person can decide alone, where a decision has them. */
  veto: z.array(z.string().regex(ID_PATTERN.choice)).min(1).optional(),
  require: z
    .strictObject({
      /** Answers of other channels do not count: kinds (`telegram`) or channels with their profile (`telegram:ops`). */
      channels: z
        .array(
          z
            .string()
            .regex(/^[a-z]+(:[A-Za-z0-9][A-Za-z0-9._-]*)?$/, 'must be a channel such as "telegram" or "telegram:ops"'),
        )
        .min(1)
        .optional(),
      assurance: z.literal("remote").optional(),
    })
    .optional(),
  remindAfter: z
    .strictObject({
      minutes,
      /** Between reminders; left out: as long as before the first. */
      everyMinutes: minutes.optional(),
      atMost: z.number().int().min(1).max(POLICY.reminders).default(POLICY.remindersDefault),
      /** No reminder in this part of the day; `timeZone` left out: that of the configuration. */
      quiet: z.strictObject({ from: wallTimeSchema, to: wallTimeSchema, timeZone: z.string().optional() }).optional(),
    })
    .optional(),
  /** Asks a second audience too. */
  escalateAfter: z.strictObject({ minutes, audience: name }).optional(),
});

const audienceSchema = z.strictObject({
  /**
   * `telegram:<profile>/<chat>[/<topic>]`: each gets the card. `pi`: the Pi session that the run was started from gets it, and it may be
   * answered in Pi. `terminal`: may be decided at the server's own terminal.
   */
  destinations: z.array(z.string().min(1).max(300)).min(1).max(20),
  /** Who may answer; left out: everybody whom the profile allows. */
  people: z.array(name).min(1).optional(),
  policy: audiencePolicySchema.default({ quorum: 1 }),
  /** `remote` refuses answers given on this machine. */
  assurance: z.enum(["any", "remote"]).default("any"),
  /** Chats do not let readers forward or save what is sent to it. */
  protectContent: z.boolean().optional(),
  /** Left out: wait. */
  onAmbiguous: onAmbiguousSchema.optional(),
  /** IANA zone for times in what is sent to this audience; a person's own goes first in a chat with them alone. */
  timeZone: z.string().optional(),
  language: languageSchema.optional(),
});

const telegramProfileSchema = z.strictObject({
  /** Absolute path of a file that holds the bot token; mode 0600, owned by you. */
  tokenFile: z.string().startsWith("/", "must be an absolute path"),
  allowedUserIds: z.array(telegramId).min(1),
  allowedChatIds: z.array(telegramId).min(1),
  apiRoot: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).default("https://api.telegram.org"),
});

const serverSchema = z.strictObject({
  /** Workflow runs at a time; default 2 per core, 4 to 32. */
  maxRuns: z.number().int().min(1).max(32).optional(),
  logLevel: z.enum(["debug", "info", "warn", "error"]).default("info"),
});

const metricsSchema = z.strictObject({
  /** Figures for Prometheus at http://127.0.0.1:<port>/metrics; no other machine can reach it. */
  port: z.number().int().min(1).max(65_535),
});

const key = z.string().min(1).max(40).nullable();

const webhooksSchema = z.strictObject({
  port: z.number().int().min(1).max(65_535),
  /** An address of this machine; another than a loopback one needs `allowRemote`. */
  host: z.string().min(1).max(253).default("127.0.0.1"),
  /** Other machines may reach it. What they send is signed, and not encrypted: a proxy with TLS in front is better. */
  allowRemote: z.boolean().default(false),
  /** How senders reach it, where that is another address: `https://hooks.example/holdpoint`. */
  publicUrl: z.url({ protocol: /^https?$/, error: "must be an http or https URL" }).optional(),
});

const piSchema = z.strictObject({
  /** The Pi for agent nodes: a name in PATH, a path, or a program with its first arguments (a Node and Pi's cli.js). */
  command: z
    .union([z.string().min(1), z.array(z.string().min(1)).min(1).max(20)], "must be text, or a list of texts")
    .default("pi"),
  /** Pi's own folder (settings, models, login); left out: Pi's default. */
  agentDir: z.string().startsWith("/", "must be an absolute path").optional(),
  /** Whether a program that drives Pi over RPC may answer decisions; left out: only what is typed in Pi, or chosen in its dialog. */
  rpcAnswers: z.boolean().optional(),
  /** Whether what happens in a session during its run is recorded; left out: yes. */
  capture: z.boolean().optional(),
  /** Keys inside Pi, as Pi names them (`shift+up`); null: none. */
  shortcuts: z
    .strictObject({ scrollUp: key.optional(), scrollDown: key.optional(), answer: key.optional() })
    .optional(),
});

export const configSchema = z.strictObject({
  schema: z.literal("holdpoint.config.v1"),
  people: z.record(name, personSchema).default({}),
  audiences: z.record(name, audienceSchema).default({}),
  telegramProfiles: z.record(name, telegramProfileSchema).default({}),
  /** IANA zone for times where the reader's own is not known. */
  timeZone: z.string().default("UTC"),
  /** Where neither person nor audience names one; left out: English. */
  language: languageSchema.optional(),
  server: serverSchema.default({ logLevel: "info" }),
  pi: piSchema.default({ command: "pi" }),
  /** What is watched, each as docs/monitors.md says; read one by one, so that a wrong one does not stop the others. */
  monitors: z
    .record(name, z.unknown())
    .refine((given) => Object.keys(given).length <= MONITOR.monitors, `at most ${MONITOR.monitors} monitors`)
    .default({}),
  /** What wakes resource managers: webhooks, watched files, schedules; read one by one like monitors. */
  sources: z
    .record(name, z.unknown())
    .refine((given) => Object.keys(given).length <= SOURCE.sources, `at most ${SOURCE.sources} sources`)
    .default({}),
  /** Left out: nothing comes in over HTTP. */
  webhooks: webhooksSchema.optional(),
  /** Left out: no figures are served. */
  metrics: metricsSchema.optional(),
  retention: z.strictObject({ runDays: z.number().int().min(1).max(3_650).default(30) }).default({ runDays: 30 }),
});

export type Config = z.infer<typeof configSchema>;
export type Audience = Config["audiences"][string];
export type PiConfig = Config["pi"];
export type TelegramProfile = Config["telegramProfiles"][string];

/** A destination in its pieces: which channel carries it, the place (chat) and the topic in it. */
export interface Destination {
  readonly text: string;
  /** `telegram:<profile>` */
  readonly channel: string;
  readonly kind: string;
  readonly profile: string;
  readonly place: string;
  readonly topic: string | null;
}

/**
 * The destination that no message goes to: a person at the server's own terminal may answer (`holdpoint decide`). Off unless an
 * audience names it.
 */
export const TERMINAL = "terminal";

/** The destination that stands for the Pi session of a run, and the channel that carries it. Its answers are `local`. */
export const PI = "pi";

/** The session of a run as a destination. */
export function sessionDestination(sessionId: string): string {
  return `${PI}/${sessionId}`;
}

/** The destinations of an audience to which messages are sent, each once. */
export function postedTo(destinations: readonly string[]): string[] {
  return [...new Set(destinations)].filter((destination) => destination !== TERMINAL);
}

/** Those of them that are chats: the session of a run is told about that run only. */
export function chatsOf(destinations: readonly string[]): string[] {
  return postedTo(destinations).filter((destination) => destination !== PI);
}

/** Parses `telegram:<profile>/<chat>[/<topic>]`, or `pi[/<session>]`. Throws `configInvalid` with the form that is wanted. */
export function parseDestination(text: string): Destination {
  const session = /^pi(?:\/([A-Za-z0-9][A-Za-z0-9._-]{0,63}))?$/.exec(text);
  if (session !== null) return { text, channel: PI, kind: PI, profile: "", place: session[1] ?? "", topic: null };
  const match = /^([a-z]+):([A-Za-z0-9][A-Za-z0-9._-]{0,199})\/([^/\s:]{1,64})(?:\/([^/\s:]{1,64}))?$/.exec(text);
  if (!match) {
    throw new HoldpointError(
      "configInvalid",
      `Destination "${text}" has not the form telegram:<profile>/<chat>[/<topic>].`,
    );
  }
  const [, kind = "", profile = "", place = "", topic] = match;
  return { text, channel: `${kind}:${profile}`, kind, profile, place, topic: topic ?? null };
}

/** The configuration of a home without config.json: valid, and able to run workflows without decisions. */
export const EMPTY_CONFIG: Config = configSchema.parse({ schema: "holdpoint.config.v1" });

/**
 * Parses and cross-checks a configuration text. Throws `configInvalid` naming the field, the value seen and what is wanted.
 * `where` is how messages call the file.
 */
export function parseConfig(text: string, where: string): Config {
  let value: unknown;
  try {
    // Some editors begin a file with a byte order mark.
    value = parseJsonText(text);
  } catch (error) {
    throw new HoldpointError("configInvalid", `${where} is not valid JSON: ${messageOf(error)}`, {
      remedy:
        "Correct the JSON at that place; it has no comments, no comma before a closing bracket, and each key once.",
    });
  }
  const parsed = configSchema.safeParse(value);
  if (!parsed.success) {
    const lines = parsed.error.issues
      .slice(0, 5)
      .map((issue) => `${issue.path.join(".") || "(top)"}: ${wordsOf(issue)}`);
    throw new HoldpointError("configInvalid", `${where} is invalid: ${lines.join("; ")}`, {
      details: { issues: lines },
    });
  }
  crossCheck(parsed.data, where);
  return parsed.data;
}

/** What an issue says, where the library's own words leave out what is wanted. */
function wordsOf(issue: z.core.$ZodIssue): string {
  if (issue.code === "invalid_key") return `this name ${issue.issues[0]?.message ?? "is not valid"}`;
  if (issue.code !== "unrecognized_keys") return issue.message;
  const known = keysAt(configSchema, issue.path);
  const meant = issue.keys.flatMap((key) => nearest(key, known) ?? []);
  return meant.length > 0 ? `${issue.message}; did you mean ${meant.join(", ")}?` : issue.message;
}

/** The keys that an object of the schema may have, where a path of keys leads to it. */
function keysAt(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return keysAt(schema.def.innerType, path);
  const [key, ...rest] = path;
  if (schema instanceof z.ZodRecord) return keysAt(schema.valueType, rest);
  if (!(schema instanceof z.ZodObject)) return [];
  if (key === undefined) return Object.keys(schema.shape);
  const below = schema.shape[key as string] as z.core.$ZodType | undefined;
  return below === undefined ? [] : keysAt(below, rest);
}

function crossCheck(config: Config, where: string): void {
  const problem = (message: string): never => {
    throw new HoldpointError("configInvalid", `${where}: ${message}`);
  };
  const owners = new Map<string, string>();
  for (const [person, { telegram, terminal = [] }] of Object.entries(config.people)) {
    for (const id of [...telegram, ...terminal]) {
      const other = owners.get(id);
      if (other)
        problem(
          `people.${person}.${telegram.includes(id) ? "telegram" : "terminal"}: id ${id} already belongs to "${other}"; a vote must belong to one person.`,
        );
      owners.set(id, person);
    }
  }
  const bots = new Map<string, string>();
  for (const [profile, { tokenFile }] of Object.entries(config.telegramProfiles)) {
    const other = bots.get(normalize(tokenFile));
    if (other !== undefined)
      problem(
        `telegramProfiles.${profile}.tokenFile: ${tokenFile} is already the token file of "${other}"; two profiles of one bot would take each other's updates.`,
      );
    bots.set(normalize(tokenFile), profile);
  }
  for (const [audience, entry] of Object.entries(config.audiences)) {
    for (const local of [TERMINAL, PI])
      if (entry.assurance === "remote" && entry.destinations.includes(local))
        problem(
          `audiences.${audience}: "assurance": "remote" refuses answers from this machine, so "${local}" cannot be a destination.`,
        );
    for (const text of postedTo(entry.destinations)) {
      if (text === PI) continue;
      const destination = parsed(text, (why) => problem(`audiences.${audience}: ${why}`));
      if (destination.kind !== "telegram")
        problem(
          `audiences.${audience}: destination "${text}" is of unknown kind "${destination.kind}"; known: telegram, pi, terminal.`,
        );
      const profile = Object.hasOwn(config.telegramProfiles, destination.profile)
        ? config.telegramProfiles[destination.profile]
        : undefined;
      if (!profile)
        problem(
          `audiences.${audience}: destination "${text}" names profile "${destination.profile}", which telegramProfiles does not have.`,
        );
      else if (!profile.allowedChatIds.includes(destination.place)) {
        problem(
          `audiences.${audience}: chat ${destination.place} is not in telegramProfiles.${destination.profile}.allowedChatIds; nothing is ever sent to a chat that is not allowed.`,
        );
      }
    }
    for (const person of entry.people ?? []) {
      if (!Object.hasOwn(config.people, person)) problem(`audiences.${audience}.people: "${person}" is not in people.`);
    }
    const trouble = policyTrouble(config, audience, entry);
    if (trouble !== undefined) problem(`audiences.${audience}.policy.${trouble}`);
  }
  const { webhooks } = config;
  if (webhooks !== undefined && !webhooks.allowRemote && !isLoopback(webhooks.host))
    problem(
      `webhooks.host: other machines can reach "${webhooks.host}"; set "allowRemote": true if they shall, or use 127.0.0.1 with a proxy or a tunnel.`,
    );
  for (const [field, timeZone] of zonesOf(config)) {
    if (timeZone !== undefined && !isTimeZone(timeZone))
      problem(`${field} "${timeZone}" is not an IANA time zone such as "Europe/Berlin".`);
  }
}

function parsed(text: string, refuse: (why: string) => never): Destination {
  try {
    return parseDestination(text);
  } catch (error) {
    return refuse(messageOf(error));
  }
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Every zone beside those of policies, with the field that names it. */
function zonesOf({ audiences, people, timeZone }: Config): [field: string, timeZone: string | undefined][] {
  return [
    ["timeZone", timeZone],
    ...Object.entries(people).map(([id, one]): [string, string | undefined] => [`people.${id}.timeZone`, one.timeZone]),
    ...Object.entries(audiences).map(([name, one]): [string, string | undefined] => [
      `audiences.${name}.timeZone`,
      one.timeZone,
    ]),
  ];
}

/** What the rest of the configuration does not let a policy have: the field and why, or undefined. */
function policyTrouble(config: Config, name: string, { people, policy }: Audience): string | undefined {
  const { escalateAfter, quorum, remindAfter } = policy;
  const voters = new Set(people).size;
  if (quorum > 1 && people === undefined)
    return `quorum: ${quorum} needs "people" beside it; votes are counted by person, and only the people of that list vote.`;
  if (quorum > 1 && quorum > voters)
    return `quorum: ${quorum} can never be reached by ${voters} ${voters === 1 ? "person" : "people"}.`;
  if (escalateAfter !== undefined) {
    const to = escalateAfter.audience;
    if (to === name) return `escalateAfter.audience: "${to}" is the same audience.`;
    const second = Object.hasOwn(config.audiences, to) ? config.audiences[to] : undefined;
    if (second === undefined) return `escalateAfter.audience: "${to}" is not in audiences.`;
    if (quorum > 1 && second.people === undefined)
      return `escalateAfter.audience: "${to}" needs "people" too; with a quorum votes are counted by person, and nobody there could vote.`;
  }
  const quiet = remindAfter?.quiet;
  if (quiet === undefined) return undefined;
  if (quiet.from === quiet.to)
    return `remindAfter.quiet: "from" and "to" are both ${quiet.from}, which is no part of a day.`;
  if (quiet.timeZone !== undefined && !isTimeZone(quiet.timeZone))
    return `remindAfter.quiet.timeZone: "${quiet.timeZone}" is not an IANA time zone such as "Europe/Berlin".`;
  return undefined;
}
