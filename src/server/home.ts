/** The folder of an installation: paths, permissions, configuration. Everything it owns is below one directory, mode 0700. */
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { EMPTY_CONFIG, parseConfig, type Config } from "../contracts/config.ts";
import { HoldpointError, isHoldpointError } from "../contracts/errors.ts";

export interface Home {
  readonly dir: string;
  readonly config: string;
  readonly database: string;
  readonly lock: string;
  readonly socket: string;
  readonly logs: string;
  readonly cache: string;
  readonly sources: string;
  /** The secret that addresses are made from. */
  readonly key: string;
}

/** Paths of the home that `HOLDPOINT_HOME` (default `~/.holdpoint`) names. Throws `homeInvalid` for a relative path. */
export function homeOf(dir: string = process.env["HOLDPOINT_HOME"] || join(homedir(), ".holdpoint")): Home {
  if (!isAbsolute(dir))
    throw new HoldpointError("homeInvalid", `HOLDPOINT_HOME is "${dir}"; it must be an absolute path.`);
  return {
    dir,
    config: join(dir, "config.json"),
    database: join(dir, "state.sqlite"),
    lock: join(dir, "server.lock"),
    socket: join(dir, "server.sock"),
    logs: join(dir, "logs"),
    cache: join(dir, "cache"),
    sources: join(dir, "sources"),
    key: join(dir, "webhook.key"),
  };
}

/** What an installation puts, or a person may have prepared, in its home. */
const OURS = new Set([
  "config.json",
  "telegram-token",
  "token",
  "logs",
  "cache",
  "sources",
  "webhook.key",
  "agents",
  "server.lock",
  "server.json",
  "server.sock",
  "pi.sock",
]);

/** Creates the folders, owner only. Throws `homeInvalid` for a folder of somebody else, untouched. */
export function prepareHome(home: Home): void {
  try {
    mkdirSync(home.dir, { recursive: true, mode: 0o700 });
    if ((statSync(home.dir).mode & 0o077) !== 0) {
      const strangers = readdirSync(home.dir).filter((name) => !OURS.has(name) && !name.startsWith("state.sqlite"));
      if (strangers.length > 0) {
        throw new HoldpointError(
          "homeInvalid",
          `${home.dir} is open to others and holds files that are not Holdpoint's (${strangers.slice(0, 3).join(", ")}); its permissions were not touched.`,
        );
      }
      chmodSync(home.dir, 0o700);
    }
    for (const dir of [home.logs, home.cache]) mkdirSync(dir, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (isHoldpointError(error)) throw error;
    throw new HoldpointError(
      "homeInvalid",
      `${home.dir} cannot be used: ${error instanceof Error ? error.message : String(error)}`,
      { cause: error },
    );
  }
}

/** Reads config.json; a missing file is the empty configuration. Throws `configInvalid`. */
export function loadConfig(home: Home): Config {
  if (!existsSync(home.config)) return EMPTY_CONFIG;
  return parseConfig(readFileSync(home.config, "utf8"), home.config);
}
