/** Effects and channels: HP6xx. */
import type { ErrorEntry } from "./entry.ts";

export const CHANNELS_ERRORS = {
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
  adapterSilent: {
    code: "HP660",
    when: "The adapter of a channel gave no sign of life and was ended.",
    remedy: "Nothing to do, it is started again; when it happens often, look at the load of the machine.",
  },
  messageDropped: {
    code: "HP621",
    when: "A person gave up a message whose arrival was not known.",
    remedy: "Nothing to do; `holdpoint channel recover <id> retry` sends it again after all.",
  },
} as const satisfies Record<string, ErrorEntry>;
