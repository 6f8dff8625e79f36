/** The folder of an installation: paths, permissions, configuration. Everything it owns is below one directory, mode 0700. */
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { EMPTY_CONFIG, parseConfig, type Config } from "../contracts/config.ts";
import { HoldpointError } from "../contracts/errors.ts";

export interface Home {
  readonly dir: string;
  readonly config: string;
  readonly database: string;
  readonly lock: string;
  readonly socket: string;
  readonly logs: string;
  readonly cache: string;
  readonly sources: string;
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
  };
}

/** Creates the folders, owner only. */
export function prepareHome(home: Home): void {
  try {
    for (const dir of [home.dir, home.logs, home.cache]) mkdirSync(dir, { recursive: true, mode: 0o700 });
    if ((statSync(home.dir).mode & 0o077) !== 0) chmodSync(home.dir, 0o700);
  } catch (error) {
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
