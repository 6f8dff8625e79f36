/** Authoring: HP3xx. */
import type { ErrorEntry } from "./entry.ts";

export const AUTHORING_ERRORS = {
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
} as const satisfies Record<string, ErrorEntry>;
