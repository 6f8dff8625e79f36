/** The server: HP8xx. */
import type { ErrorEntry } from "./entry.ts";

export const SERVER_ERRORS = {
  serverRunning: {
    code: "HP801",
    when: "Another server of this home is alive.",
    remedy: "Use it (`holdpoint server status`) or stop it (`holdpoint server stop`).",
  },
  serverUnavailable: {
    code: "HP802",
    when: "No server answers on the socket.",
    remedy: "Start it with `holdpoint server start`, or see logs/server.log.",
  },
  homeInvalid: {
    code: "HP803",
    when: "HOLDPOINT_HOME cannot be used (permissions, path too long for a socket, not a directory).",
    remedy: "Choose a short path of your own, mode 0700.",
  },
  childStart: {
    code: "HP804",
    when: "A child process did not become ready in time.",
    remedy: "See its diagnostic in `holdpoint server status` and logs/.",
  },
} as const satisfies Record<string, ErrorEntry>;
