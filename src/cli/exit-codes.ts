/**
 * Every exit code of `holdpoint`, in one table; docs/cli.md shows it. A code says what kind of thing went wrong, the
 * HP code in the message says which.
 */
import type { ErrorKind } from "../contracts/errors.ts";

export const EXIT = {
  ok: { code: 0, when: "It worked; a followed run completed." },
  internal: { code: 1, when: "Something nobody foresaw, or a broken conversation with the server." },
  usage: { code: 2, when: "The command line has an unknown word or a wrong value." },
  config: {
    code: 3,
    when: "The configuration, a token file or the home cannot be used; `doctor` found something wrong.",
  },
  workflow: {
    code: 4,
    when: "The workflow is not found, cannot be loaded, breaks a rule or refuses its input; also when a followed run ends by that.",
  },
  notFound: { code: 5, when: "No record has this id, or several have it." },
  state: { code: 6, when: "The command does not fit the present state of the record." },
  unavailable: { code: 7, when: "No server answers, it cannot be started, or it is of another version." },
  storage: { code: 8, when: "The database or the disk refuses." },
  runFailed: { code: 10, when: "A followed run failed, but not by what 4 stands for." },
  runTimedOut: { code: 11, when: "A followed run timed out." },
  runCancelled: { code: 12, when: "A followed run was cancelled." },
  needsPerson: { code: 13, when: "A followed run cannot go on before a person settles something." },
  notFine: { code: 14, when: "`monitors check` saw something else than what is expected." },
  demo: { code: 20, when: "The demo did not reach its end in time." },
  brokenPipe: { code: 141, when: "The reader of the output left before the end, as `head -1` does." },
  interrupted: { code: 130, when: "Ctrl-C; a followed run goes on by itself." },
  terminated: { code: 143, when: "SIGTERM or SIGHUP; a followed run goes on by itself." },
} as const satisfies Record<string, { code: number; when: string }>;

type ExitName = keyof typeof EXIT;

/** Kinds that do not follow the hundreds of their code. */
const BY_KIND: Partial<Record<ErrorKind, ExitName>> = {
  versionSkew: "unavailable",
  idempotencyConflict: "state",
  runNotFound: "notFound",
  ambiguousId: "notFound",
  decisionNotFound: "notFound",
  requestNotFound: "notFound",
  effectNotFound: "notFound",
  alertNotFound: "notFound",
  channelUnknown: "notFound",
  resourceNotFound: "notFound",
  managerNotFound: "workflow",
  managerLoad: "workflow",
  managerInvalid: "workflow",
  resourceInvalid: "workflow",
  managerReserved: "usage",
  monitorUnknown: "notFound",
  monitorState: "state",
  referenceInvalid: "usage",
  outputTooLarge: "workflow",
  homeInvalid: "config",
  demoFailed: "demo",
  setupFailed: "config",
};

/** Hundreds of an error's HP code → the kind of exit. */
const BY_HUNDRED: Record<string, ExitName> = {
  "1": "internal",
  "2": "config",
  "3": "workflow",
  "4": "state",
  "5": "state",
  "6": "state",
  "7": "storage",
  "8": "unavailable",
};

/** The exit code for an error. `code` is its HP code, for example "HP406". */
export function exitCodeOf(error: { readonly kind: ErrorKind; readonly code: string }): number {
  if (error.kind === "usage") return EXIT.usage.code;
  const name = BY_KIND[error.kind] ?? BY_HUNDRED[error.code.slice(2, 3)] ?? "internal";
  return EXIT[name].code;
}

/** HP301 to HP305: the run never had a usable workflow, input or question. */
const UNUSABLE = /^HP30[1-5]$/;

/** The exit code of a command that followed a run to this status; `errorCode` is the HP code of the run's error. */
export function exitCodeOfRun(status: string, errorCode?: string): number {
  switch (status) {
    case "completed":
      return EXIT.ok.code;
    case "failed":
      return errorCode !== undefined && UNUSABLE.test(errorCode) ? EXIT.workflow.code : EXIT.runFailed.code;
    case "timed_out":
      return EXIT.runTimedOut.code;
    case "cancelled":
      return EXIT.runCancelled.code;
    default:
      return EXIT.needsPerson.code;
  }
}
