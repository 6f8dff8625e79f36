/**
 * `holdpoint config check [file]`: validates a configuration without a server. Token files are judged and never shown.
 */
import { readFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { resolveHome } from "../../client/home.ts";
import { chatsOf, parseConfig, TERMINAL, type Config } from "../../contracts/config.ts";
import { HoldpointError, isHoldpointError } from "../../contracts/errors.ts";
import { readSecret } from "../../contracts/token-file.ts";
import type { Context } from "../context.ts";
import { hang } from "../layout.ts";

export async function configCheck(context: Context, args: string[]): Promise<void> {
  const path = args[0] === undefined ? join(resolveHome(context.home), "config.json") : resolve(args[0]);
  const config = parseConfig(readConfigFile(path), path);
  const profiles = Object.entries(config.telegramProfiles);
  for (const [name, profile] of profiles) checkTokenFile(name, profile.tokenFile);
  await checkWatching(config, path);
  const warnings = warningsOf(config);
  const counts = {
    people: Object.keys(config.people).length,
    audiences: Object.keys(config.audiences).length,
    telegramProfiles: profiles.length,
    monitors: Object.keys(config.monitors).length,
    sources: Object.keys(config.sources).length,
  };
  context.result({ file: path, valid: true, ...counts, warnings });
  context.line(`${path} is valid.`);
  context.line(
    `${count(counts.people, "person", "people")}, ${count(counts.audiences, "audience")}, ${count(counts.telegramProfiles, "Telegram profile")}.`,
  );
  if (counts.monitors + counts.sources > 0)
    context.line(`${count(counts.monitors, "monitor")}, ${count(counts.sources, "source")}.`);
  for (const warning of warnings) context.lines(hang(warning, context.width, "Note: ", "  "));
  context.line("A running server reads it again with `holdpoint server reload`.");
}

/** @throws HoldpointError `configInvalid` */
export function readConfigFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new HoldpointError("configInvalid", `${path} cannot be read: ${why}.`, {
      remedy: "Copy config.example.json there and fill it in, or name another file.",
    });
  }
}

/** The rules by which the adapter opens it, its own remedy for each. The token is looked at here and kept nowhere. */
export function checkTokenFile(profile: string, path: string): void {
  try {
    readSecret(path);
  } catch (error) {
    if (!isHoldpointError(error)) throw error;
    const { kind, message, remedy } = error;
    throw new HoldpointError(kind, `telegramProfiles.${profile}.tokenFile: ${message}`, { remedy, details: { path } });
  }
}

/** Monitors and sources, each by itself: a server goes on without those that are wrong, but nobody wants that. */
async function checkWatching(config: Config, path: string): Promise<void> {
  // Reading schedules is slow to load, and few commands need it.
  const { definedMonitors } = await import("../../contracts/monitor/defined.ts");
  const { definedSources } = await import("../../contracts/source.ts");
  const problems = [
    ...definedMonitors(config).bad.map(({ name, problems }) => `monitors.${name}: ${problems.join("; ")}`),
    ...definedSources(config).bad.map(({ name, problems }) => `sources.${name}: ${problems.join("; ")}`),
  ];
  if (problems.length === 0) return;
  throw new HoldpointError("configInvalid", `${path} is invalid: ${problems.slice(0, 5).join(" · ")}`, {
    details: { issues: problems.slice(0, 20) },
  });
}

/** What is valid and will still surprise somebody. */
export function warningsOf(config: Config): string[] {
  const warnings: string[] = [];
  for (const [name, audience] of Object.entries(config.audiences)) {
    const inChat = chatsOf(audience.destinations).length > 0;
    for (const person of audience.people ?? []) {
      if (!inChat) {
        const user = config.people[person]?.terminal ?? [];
        if (audience.destinations.includes(TERMINAL) && user.length === 0)
          warnings.push(`${person} of audience ${name} has no terminal id and cannot answer there.`);
        continue;
      }
      const ids = config.people[person]?.telegram ?? [];
      const allowed = Object.values(config.telegramProfiles).flatMap((profile) => profile.allowedUserIds);
      if (ids.length === 0) warnings.push(`${person} of audience ${name} has no Telegram id and cannot answer there.`);
      else if (!ids.some((id) => allowed.includes(id))) {
        warnings.push(`${person} of audience ${name} is in no allowedUserIds; answers from there will be refused.`);
      }
    }
  }
  if (Object.keys(config.audiences).length === 0)
    warnings.push("There is no audience, so no workflow can ask anybody.");
  return warnings;
}

function count(n: number, one: string, many: string = `${one}s`): string {
  return `${n} ${n === 1 ? one : many}`;
}
