/**
 * Every error a person or a program can meet, with a stable code, when it happens and what to do.
 * `kind` is the word code branches on, `code` is what is printed, searched for and documented.
 */
import { ALERTS_ERRORS } from "./errors/alerts.ts";
import { AUTHORING_ERRORS } from "./errors/authoring.ts";
import { CHANNELS_ERRORS } from "./errors/channels.ts";
import { COMMAND_LINE_ERRORS } from "./errors/command-line.ts";
import { CONFIG_ERRORS } from "./errors/config.ts";
import { DECISIONS_ERRORS } from "./errors/decisions.ts";
import { PI_ERRORS } from "./errors/pi.ts";
import { MONITORS_ERRORS } from "./errors/monitors.ts";
import { RESOURCES_ERRORS } from "./errors/resources.ts";
import { PLANNING_ERRORS } from "./errors/planning.ts";
import { RUNS_ERRORS } from "./errors/runs.ts";
import { SERVER_ERRORS } from "./errors/server.ts";
import { STORAGE_ERRORS } from "./errors/storage.ts";
import { WIRE_ERRORS } from "./errors/wire.ts";
import { toSources } from "./stacks.ts";

/** The registry. Codes are never reused: 1xx wire and versions, 2xx config, 3xx authoring, 4xx runs, 5xx decisions, 6xx effects and channels, 7xx storage, 8xx server, 9xx command line. */
export const ERRORS = {
  ...WIRE_ERRORS,
  ...CONFIG_ERRORS,
  ...AUTHORING_ERRORS,
  ...PLANNING_ERRORS,
  ...RUNS_ERRORS,
  ...MONITORS_ERRORS,
  ...RESOURCES_ERRORS,
  ...DECISIONS_ERRORS,
  ...CHANNELS_ERRORS,
  ...PI_ERRORS,
  ...ALERTS_ERRORS,
  ...STORAGE_ERRORS,
  ...SERVER_ERRORS,
  ...COMMAND_LINE_ERRORS,
} as const;

export type ErrorKind = keyof typeof ERRORS;
export type ErrorCode = (typeof ERRORS)[ErrorKind]["code"];

/** Facts for programs: limits, seen values, candidates. Plain JSON only, never a secret. */
export type ErrorDetails = Readonly<Record<string, unknown>>;

/** The wire and `--json` form of an error. */
export interface ErrorRecord {
  readonly code: string;
  readonly kind: string;
  readonly message: string;
  readonly remedy: string;
  readonly details?: ErrorDetails | undefined;
}

/** The one error class of the product. `message` says what was wrong, with the limit and the value seen. */
export class HoldpointError extends Error {
  readonly kind: ErrorKind;
  readonly code: ErrorCode;
  readonly remedy: string;
  readonly details: ErrorDetails | undefined;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { remedy?: string; details?: ErrorDetails; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "HoldpointError";
    this.kind = kind;
    this.code = ERRORS[kind].code;
    this.remedy = options.remedy ?? ERRORS[kind].remedy;
    this.details = options.details;
  }

  /** The form that travels and is stored; no stack, no cause. */
  toRecord(): ErrorRecord {
    const record: ErrorRecord = { code: this.code, kind: this.kind, message: this.message, remedy: this.remedy };
    return this.details === undefined ? record : { ...record, details: this.details };
  }
}

/** `instanceof` for values that foreign code threw: a proxy can make the question itself throw. */
export function isA<T>(thrown: unknown, type: abstract new (...args: never[]) => T): thrown is T {
  try {
    return thrown instanceof type;
  } catch {
    return false;
  }
}

/** True for our errors, also across two copies of this module. */
export function isHoldpointError(error: unknown): error is HoldpointError {
  try {
    if (!(error instanceof Error) || error.name !== "HoldpointError") return false;
    const { code, kind, message, remedy, toRecord } = error as Partial<HoldpointError>;
    return [code, kind, message, remedy].every((text) => typeof text === "string") && typeof toRecord === "function";
  } catch {
    return false;
  }
}

/** The text of anything that can be thrown; never throws itself, whatever getters and traps the value has. */
export function messageOf(thrown: unknown): string {
  try {
    if (thrown instanceof Error) {
      const issues = issuesOf(thrown);
      if (issues !== undefined) return issues;
      const text: unknown = thrown.message || thrown.name;
      return typeof text === "string" ? text : "an error whose message is no text";
    }
    const text: unknown = typeof thrown === "object" && thrown !== null ? JSON.stringify(thrown) : String(thrown);
    return typeof text === "string" ? text : `a value of type ${typeof thrown}`;
  } catch {
    return `a value of type ${typeof thrown} that cannot be read`;
  }
}

/** How many issues of a validation are told. */
const ISSUES = 10;

/** What a Zod schema found, as a sentence: its own message is the same as JSON over many lines. */
function issuesOf(error: Error): string | undefined {
  const { issues, name } = error as { issues?: unknown; name: unknown };
  if (typeof name !== "string" || !name.endsWith("ZodError") || !Array.isArray(issues) || issues.length === 0)
    return undefined;
  const told = issues.slice(0, ISSUES).map((issue: { message?: unknown; path?: unknown }) => {
    const path = Array.isArray(issue.path) ? issue.path.map(String).join(".") : "";
    return path === "" ? String(issue.message) : `${path}: ${String(issue.message)}`;
  });
  return told.join("; ") + (issues.length > ISSUES ? `; and ${issues.length - ISSUES} more` : "");
}

/** The stack of a thrown value, if it has a readable one, with places in the sources. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === "string" ? toSources(thrown.stack) : undefined;
  } catch {
    return undefined;
  }
}

/** Any thrown value as an error of ours; foreign ones become `internal`, or the given kind, with their message. */
export function asHoldpointError(thrown: unknown, kind: ErrorKind = "internal"): HoldpointError {
  try {
    // What cannot be told as a record is none of ours, whatever it looks like.
    if (isHoldpointError(thrown) && thrown.toRecord().message === thrown.message) return thrown;
  } catch {
    // Its getters throw.
  }
  return new HoldpointError(kind, messageOf(thrown), { cause: thrown });
}

/** Any thrown value as a record. Never throws. */
export function toErrorRecord(error: unknown, kind: ErrorKind = "internal"): ErrorRecord {
  try {
    if (isHoldpointError(error)) return error.toRecord();
  } catch {
    // It looked like one of ours at first.
  }
  return new HoldpointError(kind, messageOf(error)).toRecord();
}

/** A record from the wire as a throwable error; an unknown kind is kept readable as `internal`. */
export function fromErrorRecord(record: ErrorRecord): HoldpointError {
  const kind = Object.hasOwn(ERRORS, record.kind) ? (record.kind as ErrorKind) : "internal";
  const details = record.details;
  return new HoldpointError(
    kind,
    record.message,
    details === undefined ? { remedy: record.remedy } : { remedy: record.remedy, details },
  );
}
