/** Decisions: HP5xx. */
import type { ErrorEntry } from "./entry.ts";

export const DECISIONS_ERRORS = {
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
  answerUnconfirmed: {
    code: "HP661",
    when: "An answer at the terminal would have counted, but what is allowed changed while it was given: nobody had confirmed it.",
    remedy: "Run `holdpoint decide` again; it shows the card and asks for its fingerprint.",
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
} as const satisfies Record<string, ErrorEntry>;
