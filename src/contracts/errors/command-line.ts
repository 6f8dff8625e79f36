/** The command line, and what nobody foresaw: HP9xx. */
import type { ErrorEntry } from "./entry.ts";

export const COMMAND_LINE_ERRORS = {
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
