/** Sessions of Pi, and what is done in them. */
import type { ErrorEntry } from "./entry.ts";

export const PI_ERRORS = {
  sessionBusy: {
    code: "HP680",
    when: "A run is started from a Pi session that has a run which has not ended.",
    remedy: "Wait for it, cancel it (`/workflow cancel`), or start the other one from another session.",
  },
  noSession: {
    code: "HP681",
    when: "Something is to be shown in the Pi session of a run that was not started from one.",
    remedy: "Answer where else the card is shown, or start the run from Pi.",
  },
  sessionAway: {
    code: "HP682",
    when: "A Pi session is not open, or not idle, so that a message waits.",
    remedy: "Nothing needs to be done; it is sent when the session is open and idle.",
  },
  submissionRefused: {
    code: "HP683",
    when: "The result of a step is handed in for a request that is not waiting for one.",
    remedy: "Use the request id of the step that is waiting now; `/workflow status` shows it.",
  },
  linkRefused: {
    code: "HP684",
    when: "A Pi session cannot be connected: its extension speaks another protocol, or its id cannot be used.",
    remedy: "Update Holdpoint where it is older, in Pi (`pi update`) or on the server, and start Pi anew.",
  },
  inputUntrusted: {
    code: "HP685",
    when: "An answer in Pi did not come from a person's typing or choosing.",
    remedy: "Type `/workflow answer` yourself, or answer where else the card is shown.",
  },
  sessionUnsaved: {
    code: "HP686",
    when: "A message is in a Pi session that has no file yet, so that it would be lost with it.",
    remedy: "Nothing needs to be done; it counts when the session has a file, which it gets with its first turn.",
  },
} as const satisfies Readonly<Record<string, ErrorEntry>>;
