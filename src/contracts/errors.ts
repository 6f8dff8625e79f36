/**
 * Every error a person or a program can meet, with a stable code, when it happens and what to do.
 * `kind` is the word code branches on, `code` is what is printed, searched for and documented.
 */
import { TEST_SEAMS } from "./test-seams.ts";

interface ErrorEntry {
  readonly code: `HP${number}`;
  /** When it happens, in one sentence. */
  readonly when: string;
  /** The default next step; a thrower may give a better one. */
  readonly remedy: string;
}

/** The registry. Codes are never reused: 1xx wire and versions, 2xx config, 3xx authoring, 4xx runs, 5xx decisions, 6xx effects and channels, 7xx storage, 8xx server, 9xx command line. */
export const ERRORS = {
  frameTooLarge: {
    code: "HP101",
    when: "A frame on a pipe or socket is larger than the frame limit.",
    remedy: "Make the value smaller, or store it outside and pass a reference.",
  },
  frameInvalid: {
    code: "HP102",
    when: "A frame is not one line of JSON, or has unknown or wrong fields.",
    remedy: "Both sides must speak the same protocol version; update the older side.",
  },
  versionSkew: {
    code: "HP103",
    when: "Client and server speak different protocol numbers.",
    remedy: "Update the side with the lower product version and reconnect.",
  },
  notCanonical: {
    code: "HP104",
    when: "A value has no canonical JSON form (undefined, NaN, a function, a cycle, a lone surrogate).",
    remedy: "Pass plain JSON data: null, booleans, finite numbers, strings, arrays and plain objects.",
  },
  idempotencyConflict: {
    code: "HP105",
    when: "An idempotency key was used again with another payload.",
    remedy: "Use a new key for a new request; repeat the old one only with the same content.",
  },
  protocolRejected: {
    code: "HP106",
    when: "A message is valid by itself but not at this point of the conversation.",
    remedy: "This is a defect of the sender; report it with the log lines around it.",
  },
  contentInvalid: {
    code: "HP107",
    when: "A value that travels by reference is missing, incomplete, or differs from its digest.",
    remedy: "Nothing was taken from it; the runner is started again. Report it if it keeps happening.",
  },
  configInvalid: {
    code: "HP201",
    when: "config.json cannot be read, parsed or validated.",
    remedy: "Correct the named field, run `holdpoint config check`, then `holdpoint server reload` if a server runs.",
  },
  audienceUnknown: {
    code: "HP202",
    when: "A decision names an audience that the configuration does not have.",
    remedy: "Add the audience to config.json and run `holdpoint server reload`, or use one of those listed.",
  },
  tokenFile: {
    code: "HP203",
    when: "A token file is missing, not owned by this user, a link, or readable by others.",
    remedy: "Write the token to a file of your own and run `chmod 600` on it.",
  },
  testSeamRefused: {
    code: "HP204",
    when: "A test seam (fault, clock or adapter) is requested while a Telegram profile points outside this machine.",
    remedy: `Unset ${TEST_SEAMS.join(", ")}; they work only with a loopback apiRoot.`,
  },
  workflowNotFound: {
    code: "HP301",
    when: "No workflow of this name or path is found.",
    remedy: "Check the name with `holdpoint workflows`, or give a path to a .workflow.ts file.",
  },
  workflowLoad: {
    code: "HP302",
    when: "A workflow file throws or does not export a workflow.",
    remedy: "Correct the file at the place named in the message.",
  },
  workflowInvalid: {
    code: "HP303",
    when: "A workflow definition breaks a rule of the graph.",
    remedy: "Correct the named node or edge.",
  },
  inputInvalid: {
    code: "HP304",
    when: "The input parser of a workflow refused the input.",
    remedy: "Pass input of the shape the workflow expects.",
  },
  presentationInvalid: {
    code: "HP305",
    when: "A decision's presentation, choices or request break a limit; nothing became pending.",
    remedy: "Shorten or correct the named part of the presentation.",
  },
  routingFailed: {
    code: "HP401",
    when: "No edge fits the result of a node.",
    remedy: "Add the missing case to the switch of that node.",
  },
  maxSteps: {
    code: "HP402",
    when: "A run executed as many nodes as its maxSteps allows.",
    remedy: "Raise maxSteps if the loop is meant, or end the loop.",
  },
  nodeTimedOut: {
    code: "HP403",
    when: "A node ran longer than its timeout.",
    remedy: "Raise timeoutMs of the node, or make the work shorter.",
  },
  nodeFailed: {
    code: "HP404",
    when: "The function of a node threw.",
    remedy: "See the message and the stack in the run's record.",
  },
  outputTooLarge: {
    code: "HP405",
    when: "A node's output or a run's input is larger than the value limit.",
    remedy: "Return a reference (a path, an id) instead of the data itself.",
  },
  runNotFound: {
    code: "HP406",
    when: "No run has this id or prefix.",
    remedy: "List the runs with `holdpoint runs`.",
  },
  ambiguousId: {
    code: "HP407",
    when: "A short id or prefix fits several records.",
    remedy: "Use more characters; the candidates are listed.",
  },
  runState: {
    code: "HP408",
    when: "A command does not fit the state of the run (for example: resume a completed run).",
    remedy: "Look at the run with `holdpoint show <run>`.",
  },
  claimLost: {
    code: "HP409",
    when: "A writer's claim was replaced by a newer generation; it may write nothing more.",
    remedy: "Nothing to do: the newer owner continues the work.",
  },
  workflowSourceChanged: {
    code: "HP410",
    when: "The files of a waiting run are not the ones that were approved.",
    remedy: "Restore the files and run `holdpoint resume <run>`, or cancel the run and start it anew.",
  },
  runnerNoProgress: {
    code: "HP411",
    when: "A runner ended without advancing the run; it is not started again by itself.",
    remedy: "See the diagnostic in `holdpoint show <run>`, correct the cause, then `holdpoint resume <run>`.",
  },
  runnerCrashed: {
    code: "HP412",
    when: "A runner died while it worked.",
    remedy: "The server starts it again; see the diagnostic if it keeps happening.",
  },
  revisionConflict: {
    code: "HP413",
    when: "A client command expected another revision of the record.",
    remedy: "Look at the present state and repeat the command if it still applies.",
  },
  effectConflict: {
    code: "HP414",
    when: "An effect key was used again with another payload.",
    remedy: "Give the second effect its own type, or make its request deterministic.",
  },
  runnerTimedOut: {
    code: "HP415",
    when: "A runner was not ready in time and was ended.",
    remedy: "See its diagnostic in `holdpoint show <run>`; a workflow file must not do its work while it is loaded.",
  },
  restartRefused: {
    code: "HP416",
    when: "A run cannot be restarted: it has not ended, something it did is unsettled, or it was restarted before.",
    remedy: "See the reason in the message; `holdpoint run` starts the workflow anew without a link to the old run.",
  },
  exitInvalid: {
    code: "HP430",
    when: "The value with which an included workflow leaves through an exit breaks the exit's contract.",
    remedy: "Correct what the exit's node returns, or the exit's validate function.",
  },
  includeInput: {
    code: "HP431",
    when: "The input for an included workflow cannot be made, or its parser refuses it.",
    remedy: "Correct the input function of the mount named in the message.",
  },
  missingSubmission: {
    code: "HP432",
    when: "An agent ended its turns without submitting a result, also after the reminders.",
    remedy: "Say in the prompt what is to be submitted, or route the failure with a switch on $result.outcome.",
  },
  submissionInvalid: {
    code: "HP433",
    when: "What an agent submitted does not fit the step's contract.",
    remedy: "Submit a value of the described form.",
  },
  promptTooLarge: {
    code: "HP434",
    when: "The prompt of an agent step is longer than the limit.",
    remedy: "Pass large values with evidence() instead of writing them out.",
  },
  commandFailed: {
    code: "HP435",
    when: "A command ended with an exit code other than 0, by a signal, or could not be started.",
    remedy: "Read its output in the details; set allowNonZeroExit if the code is a result.",
  },
  updateRefused: {
    code: "HP436",
    when: "An update has a wrong form, is too large, comes too often, or comes from an attempt that is over.",
    remedy: "Updates only inform: correct the field, or publish less often.",
  },
  settingsRefused: {
    code: "HP437",
    when: "A change of settings is malformed, not allowed for this actor, or makes a value that is not valid.",
    remedy: "See the path and the rule named in the message.",
  },
  settingsChanged: {
    code: "HP438",
    when: "The settings are not the version that the change or route was made for.",
    remedy: "Read the settings again and repeat the change on the present version.",
  },
  followUpRefused: {
    code: "HP439",
    when: "A follow-up cannot be queued or removed.",
    remedy:
      "Follow-ups are queued before the run ends and removed before they are sent, by who queued them or by a person.",
  },
  unsupportedNode: {
    code: "HP440",
    when: "A node is of a kind that the place where the workflow runs cannot execute.",
    remedy: "Run the workflow with the server, or script this kind of node in the test.",
  },
  piUnavailable: {
    code: "HP441",
    when: "A workflow has agent nodes and no suitable Pi was found.",
    remedy: "Install Pi and a Node that it runs on, or name them as `pi.command` in config.json.",
  },
  agentFailed: {
    code: "HP442",
    when: "The agent of a node could not work: Pi did not start or ended, or its model provider failed.",
    remedy: "See the message; try `pi` by hand with the same model.",
  },
  outputRefused: {
    code: "HP443",
    when: "The validation of a node refused what its agent submitted, again and again.",
    remedy: "Let `validate` say what is wrong, and expectedOutput what is wanted.",
  },
  agentStopped: {
    code: "HP444",
    when: "The agent of a node was stopped because its run was.",
    remedy: "Nothing to do.",
  },
  decisionNotFound: {
    code: "HP501",
    when: "No decision has this fingerprint or id.",
    remedy: "List what waits with `holdpoint decisions`.",
  },
  answerRefused: {
    code: "HP502",
    when: "An answer was refused; the reason is in the message.",
    remedy: "Look at the decision with `holdpoint decisions`.",
  },
  decisionExpired: {
    code: "HP503",
    when: "A decision's deadline passed without an answer, and it has no default.",
    remedy: "Start the run again, or give the decision an onTimeout response.",
  },
  requestNotFound: {
    code: "HP504",
    when: "No checkpoint has this id, or the run waits for none.",
    remedy: "Look at what the run waits for with `holdpoint show <run>`.",
  },
  effectNotFound: {
    code: "HP601",
    when: "No effect has this id.",
    remedy: "List effects with `holdpoint effect list`.",
  },
  effectState: {
    code: "HP602",
    when: "An effect cannot be settled in its present state.",
    remedy: "Look at it with `holdpoint effect show <id>`.",
  },
  channelUnknown: {
    code: "HP603",
    when: "No channel of this name is configured.",
    remedy: "See `holdpoint channel status`.",
  },
  referenceInvalid: {
    code: "HP604",
    when: "A message reference given by an operator has the wrong form.",
    remedy: "Give the numeric message id of the card in its chat.",
  },
  channelUnreachable: {
    code: "HP605",
    when: "A channel's service could not be reached; nothing was sent.",
    remedy: "Check the network and apiRoot; it is tried again by itself.",
  },
  channelRefused: {
    code: "HP606",
    when: "A channel's service definitely refused a request; nothing was shown.",
    remedy: "Correct what the message names (chat, rights, text), then try again.",
  },
  channelUnconfirmed: {
    code: "HP607",
    when: "A channel's service did not confirm a request; whether it took effect is not known.",
    remedy: "Look in the chat, then settle it with `holdpoint channel recover <id> confirm|retry`.",
  },
  channelConflict: {
    code: "HP608",
    when: "Another program receives the updates of the same bot.",
    remedy: "Stop the other program, or give this service a bot of its own. Sending goes on meanwhile.",
  },
  tokenRefused: {
    code: "HP609",
    when: "A channel's service does not accept the token.",
    remedy: "Put a valid token into the token file; it is read again once a minute.",
  },
  effectUncertain: {
    code: "HP610",
    when: "An action was begun and nobody knows whether it happened; its contract does not allow a repeat.",
    remedy: "Find out, then run `holdpoint effect settle <id> applied|notApplied|retry`.",
  },
  adapterGone: {
    code: "HP611",
    when: "The adapter of a channel ended while it had a message in its hands.",
    remedy:
      "Nothing to do, unless the message is listed as uncertain: then `holdpoint channel recover <id> confirm|retry`.",
  },
  messageDropped: {
    code: "HP621",
    when: "A person gave up a message whose arrival was not known.",
    remedy: "Nothing to do; `holdpoint channel recover <id> retry` sends it again after all.",
  },
  notOurDatabase: {
    code: "HP701",
    when: "The database file belongs to another program, is newer, or was altered.",
    remedy: "Move the file away, or start the version of Holdpoint that made it. It was left untouched.",
  },
  diskFull: {
    code: "HP702",
    when: "A write could not be stored because the disk (or the page limit) is full.",
    remedy: "Free space on the disk of HOLDPOINT_HOME, then repeat the command.",
  },
  notWritten: {
    code: "HP703",
    when: "A batch of commands could not be committed; none of it was written.",
    remedy: "Repeat the command; see the server log for the cause.",
  },
  storeMisuse: {
    code: "HP704",
    when: "The store was called inside a command, or a command returned a promise.",
    remedy: "This is a defect; report it.",
  },
  illegalTransition: {
    code: "HP705",
    when: "A record was asked to take a transition its state table does not have.",
    remedy: "This is a defect; report it with the record's id.",
  },
  storageBroken: {
    code: "HP706",
    when: "SQLite reported a damaged file, an I/O error or no memory.",
    remedy: "Check the disk, stop the server, and put back a copy of the home from your backups.",
  },
  backupFailed: {
    code: "HP707",
    when: "A copy of the database could not be made or proved.",
    remedy: "Name a file that does not exist yet, in a folder that this user can write, on a disk with room for it.",
  },
  serverRunning: {
    code: "HP801",
    when: "Another server of this home is alive.",
    remedy: "Use it (`holdpoint server status`) or stop it (`holdpoint server stop`).",
  },
  serverUnavailable: {
    code: "HP802",
    when: "No server answers on the socket.",
    remedy: "Start it with `holdpoint server start`, or see logs/server.log.",
  },
  homeInvalid: {
    code: "HP803",
    when: "HOLDPOINT_HOME cannot be used (permissions, path too long for a socket, not a directory).",
    remedy: "Choose a short path of your own, mode 0700.",
  },
  childStart: {
    code: "HP804",
    when: "A child process did not become ready in time.",
    remedy: "See its diagnostic in `holdpoint server status` and logs/.",
  },
  usage: {
    code: "HP901",
    when: "A command line has an unknown word or a wrong value.",
    remedy: "See `holdpoint --help`.",
  },
  demoFailed: {
    code: "HP902",
    when: "The demo did not reach its end.",
    remedy: "Run it again; if it keeps happening, report it with what it printed.",
  },
  setupFailed: {
    code: "HP903",
    when: "The set-up of a channel did not reach its end; the configuration was not changed.",
    remedy: "Do what the message says and run the set-up again.",
  },
  internal: {
    code: "HP999",
    when: "Something happened that nobody foresaw.",
    remedy: "Report it with the log lines around it.",
  },
} as const satisfies Record<string, ErrorEntry>;

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
      const text: unknown = thrown.message || thrown.name;
      return typeof text === "string" ? text : "an error whose message is no text";
    }
    const text: unknown = typeof thrown === "object" && thrown !== null ? JSON.stringify(thrown) : String(thrown);
    return typeof text === "string" ? text : `a value of type ${typeof thrown}`;
  } catch {
    return `a value of type ${typeof thrown} that cannot be read`;
  }
}

/** The stack of a thrown value, if it has a readable one. */
export function stackOf(thrown: unknown): string | undefined {
  try {
    return thrown instanceof Error && typeof thrown.stack === "string" ? thrown.stack : undefined;
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
