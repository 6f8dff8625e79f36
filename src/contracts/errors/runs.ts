/** Runs: HP4xx. */
import type { ErrorEntry } from "./entry.ts";

export const RUNS_ERRORS = {
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
    remedy: "See where it was thrown in `holdpoint show <run>`; the whole stack is in its --json.",
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
    remedy:
      "When the cause lies outside of the workflow, correct it, then `holdpoint resume <run>`. When it is in its files, correct them, then `holdpoint cancel <run>` and `holdpoint restart <run>`: a resumed run keeps the files that it started with.",
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
    remedy: "Read the end of its output in `holdpoint show <run>`; set allowNonZeroExit if the code is a result.",
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
} as const satisfies Record<string, ErrorEntry>;
