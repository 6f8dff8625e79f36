/**
 * `holdpoint doctor`: whether everything on this machine can work, with the rules by which server, adapters and runners
 * judge it. It starts no server and changes nothing; `wrong` is what keeps something that is configured from working.
 */
import { accessSync, constants, existsSync, statSync } from "node:fs";
import { join } from "node:path";

import { holderOf } from "../../client/holder.ts";
import { resolveHome, serverLogOf, socketPathOf } from "../../client/home.ts";
import { EMPTY_CONFIG, parseConfig, type Config } from "../../contracts/config.ts";
import { checkPi, piCommand } from "../../contracts/pi/check.ts";
import { product } from "../../contracts/product.ts";
import type { ChannelStatus } from "../../client/index.ts";
import { note, ok, refused, wrong, type Check } from "../doctor/check.ts";
import { checkBots } from "../doctor/bots.ts";
import { checkDatabase, checkDisk } from "../doctor/storage.ts";
import type { Context, Paint } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { clean, hang } from "../layout.ts";
import { checkTokenFile, readConfigFile, warningsOf } from "./config.ts";
import { existing } from "./server.ts";

const PAINT: Readonly<Record<Check["state"], Paint>> = { ok: "green", note: "yellow", wrong: "red" };
/** Columns of state and name. */
const STATE_WIDTH = 7;

export async function doctor(context: Context): Promise<number> {
  const home = resolveHome(context.home);
  if (!context.json && context.io.terminal) context.io.err("Looking …\n");
  const { checks: configChecks, config, piNamed } = checkConfig(join(home, "config.json"));
  const server = await checkServer(home);
  const checks = [
    checkNode(process.versions.node, product().node),
    checkHome(home),
    checkDisk(home),
    await checkDatabase(home),
    ...configChecks,
    server.check,
    ...(await checkBots(config, server.channels)),
    await checkAgents(config, piNamed),
  ];
  const healthy = checks.every(({ state }) => state !== "wrong");
  context.result({ healthy, checks });
  for (const { found, name, remedy, state } of checks) {
    const label = context.paint(PAINT[state], state.padEnd(STATE_WIDTH));
    context.lines(hang(clean(`${name}: ${found}`), context.width, label, " ".repeat(STATE_WIDTH)));
    if (remedy !== null) {
      const indent = " ".repeat(STATE_WIDTH);
      context.lines(hang(clean(remedy), context.width, `${indent}To do: `, `${indent}  `));
    }
  }
  context.line(healthy ? "Nothing is wrong." : "Something is wrong; see above.");
  return healthy ? EXIT.ok.code : EXIT.config.code;
}

function checkNode(version: string, engines: string): Check {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  // `^20.19.0 || >=24.0.0`: the same major and at least the minor, or anything above.
  const fits = engines.split("||").some((range) => {
    const [, operator, wantedMajor, wantedMinor] = /^\s*(\^|>=)(\d+)\.(\d+)/.exec(range) ?? [];
    if (Number(wantedMajor) === major) return minor >= Number(wantedMinor);
    return operator === ">=" && major > Number(wantedMajor);
  });
  if (fits || engines === "") return ok("Node", version);
  return wrong("Node", `${version}, and ${engines} is needed`, "Run Holdpoint with one of these.");
}

function checkHome(home: string): Check {
  try {
    socketPathOf(home);
  } catch (error) {
    return refused("Home", error);
  }
  if (!existsSync(home)) return note("Home", `${home} does not exist yet; it is made at the first start`);
  const { mode, uid } = statSync(home);
  if (!statSync(home).isDirectory()) return wrong("Home", `${home} is not a folder`, "Name another with --home.");
  if (process.getuid !== undefined && uid !== process.getuid())
    return wrong("Home", `${home} belongs to user id ${uid}`, "Use a home of your own.");
  if ((mode & 0o077) !== 0) {
    const seen = (mode & 0o777).toString(8).padStart(3, "0");
    return wrong("Home", `${home} has mode ${seen}: others can look into it`, `Run \`chmod 700 ${home}\`.`);
  }
  try {
    accessSync(home, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch {
    return wrong("Home", `${home} cannot be written to`, `Run \`chmod 700 ${home}\`.`);
  }
  return ok("Home", home);
}

/** The checks, and the configuration that the others use: an empty one where there is none or it is invalid. */
function checkConfig(path: string): { checks: Check[]; config: Config; piNamed: boolean } {
  if (!existsSync(path)) {
    const found = `${path} does not exist, so no workflow can ask anybody`;
    const none = note(
      "Configuration",
      found,
      "Run `holdpoint setup telegram`, or copy config.example.json there and fill it in.",
    );
    return { checks: [none], config: EMPTY_CONFIG, piNamed: false };
  }
  try {
    const text = readConfigFile(path);
    const config = parseConfig(text, path);
    const checks = [ok("Configuration", path), ...warningsOf(config).map((found) => note("Configuration", found))];
    const usable: Config["telegramProfiles"] = {};
    for (const [name, profile] of Object.entries(config.telegramProfiles)) {
      const { tokenFile } = profile;
      try {
        checkTokenFile(name, tokenFile);
        // Without its token nothing more can be said about a bot.
        usable[name] = profile;
        checks.push(ok("Token file", `${tokenFile}, of ${name}`));
      } catch (error) {
        checks.push(refused("Token file", error));
      }
    }
    return { checks, config: { ...config, telegramProfiles: usable }, piNamed: "pi" in (JSON.parse(text) as object) };
  } catch (error) {
    return { checks: [refused("Configuration", error)], config: EMPTY_CONFIG, piNamed: false };
  }
}

/** The server, and what it says of its channels: undefined when none can be asked. */
async function checkServer(home: string): Promise<{ check: Check; channels?: readonly ChannelStatus[] }> {
  try {
    const client = await existing(home);
    if (client === undefined) {
      const pid = holderOf(home);
      if (pid === undefined) return { check: note("Server", "none runs; a command that needs it starts it") };
      return { check: note("Server", `pid ${pid} is there and does not listen yet`, `See ${serverLogOf(home)}.`) };
    }
    try {
      const { channels, configError, pid, product: version } = await client.call("server.status", {});
      if (configError === null) return { check: ok("Server", `pid ${pid}, version ${version}`), channels };
      const found = `pid ${pid} uses an earlier configuration: ${configError.message}`;
      return { check: wrong("Server", found, configError.remedy), channels };
    } finally {
      client.close();
    }
  } catch (error) {
    return { check: refused("Server", error) };
  }
}

/** A Pi that nobody named is only missed by workflows with agent nodes. */
async function checkAgents({ pi }: Config, named: boolean): Promise<Check> {
  const { first, program } = piCommand(pi);
  const called = [program, ...first].join(" ");
  const check = await checkPi(pi);
  if (check.ok) {
    const on = check.node === null ? "" : ` on Node ${check.node}`;
    return ok("Pi for agent nodes", `Pi ${check.version}${on}, as \`${called}\``);
  }
  const found = `workflows with agent nodes need ${check.needed}; found: ${check.found}`;
  const remedy = "Install it, or name it as `pi.command` in config.json.";
  return named ? wrong("Pi for agent nodes", found, remedy) : note("Pi for agent nodes", found, remedy);
}
