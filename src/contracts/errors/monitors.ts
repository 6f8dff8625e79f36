/** Monitors and sources: HP470 to HP499. */
import type { ErrorEntry } from "./entry.ts";

export const MONITORS_ERRORS = {
  monitorInvalid: {
    code: "HP470",
    when: "A monitor's definition is wrong; the other monitors go on.",
    remedy: "Correct the named field and run `holdpoint config check`, then `holdpoint server reload`.",
  },
  monitorUnknown: {
    code: "HP471",
    when: "No monitor has this name.",
    remedy: "See `holdpoint monitors` for the names.",
  },
  monitorState: {
    code: "HP472",
    when: "What was asked for does not fit this monitor (a heartbeat cannot be probed, an invalid one not checked).",
    remedy: "See `holdpoint monitors show <name>`.",
  },
  scheduleInvalid: {
    code: "HP473",
    when: "A schedule is no cron line of five fields, never comes, or names an unknown zone.",
    remedy: 'Write five fields such as "0 3 * * 1-5", and a zone such as "Europe/Berlin".',
  },
  sourceInvalid: {
    code: "HP474",
    when: "A source's definition is wrong; the other sources go on.",
    remedy: "Correct the named field and run `holdpoint config check`, then `holdpoint server reload`.",
  },
  sourceRefused: {
    code: "HP475",
    when: "A request to a webhook is not what its source accepts. The sender is not told why; the log is.",
    remedy: "Compare address, secret, time and id with docs/monitors.md.",
  },
  probeFailed: {
    code: "HP476",
    when: "A probe could not be made at all.",
    remedy: "See the diagnostic in `holdpoint server status` and logs/.",
  },
} as const satisfies Record<string, ErrorEntry>;
