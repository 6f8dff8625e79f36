/** Wire and versions: HP1xx. */
import type { ErrorEntry } from "./entry.ts";

export const WIRE_ERRORS = {
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
} as const satisfies Record<string, ErrorEntry>;
