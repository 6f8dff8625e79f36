/** Configuration: HP2xx. */
import { TEST_SEAMS } from "../test-seams.ts";
import type { ErrorEntry } from "./entry.ts";

export const CONFIG_ERRORS = {
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
} as const satisfies Record<string, ErrorEntry>;
