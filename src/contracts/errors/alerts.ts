/** Alerts: HP630 to HP649. */
import type { ErrorEntry } from "./entry.ts";

export const ALERTS_ERRORS = {
  alertNotFound: {
    code: "HP630",
    when: "No alert has this id.",
    remedy: "List them with `holdpoint alerts --all`.",
  },
  alertInvalid: {
    code: "HP631",
    when: "An alert has a text that is empty or too long, or a time that cannot be.",
    remedy: "Shorten it; the message names the field and its limit.",
  },
  alertState: {
    code: "HP632",
    when: "An alert that is over was to be acknowledged or snoozed.",
    remedy: "Nothing needs doing; `holdpoint alerts --all` shows when it ended.",
  },
} as const satisfies Record<string, ErrorEntry>;
