/**
 * Adds what a set-up learned to a configuration: everything that is there stays, and the result is a valid configuration or
 * nothing. Written beside the file and renamed over it, mode 0600.
 */
import { closeSync, fsyncSync, openSync, readFileSync, realpathSync, renameSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";

import { parseConfig, type Config } from "../../contracts/config.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { isTimeZone } from "../../contracts/time-zone.ts";

export interface Pairing {
  readonly profile: string;
  readonly tokenFile: string;
  /** Null: the service's own. */
  readonly apiRoot: string | null;
  readonly audience: string;
  /** Id of the person in the configuration; null = the one who has the user id already, else made from the name. */
  readonly person: string | null;
  readonly user: { readonly id: string; readonly name: string | null };
  readonly chat: string;
  readonly topic: string | null;
}

export interface Change {
  /** The whole new text. */
  readonly text: string;
  readonly config: Config;
  readonly person: string;
  readonly destination: string;
}

type Json = Record<string, unknown>;

/** The text of the file, or null when there is none. */
export function configText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return null;
    const why = error instanceof Error ? error.message : String(error);
    throw new HoldpointError("configInvalid", `${path} cannot be read: ${why}.`);
  }
}

/** The configuration with the pairing in it. Throws `configInvalid` or `setupFailed`; nothing is written. */
export function withPairing(before: string | null, pairing: Pairing, path: string): Change {
  if (before !== null) parseConfig(before, path);
  const raw = (before === null ? fresh() : JSON.parse(before)) as Json;
  const person = addPerson(section(raw, "people"), pairing);
  addProfile(section(raw, "telegramProfiles"), pairing);
  const { chat, profile, topic } = pairing;
  const destination = `telegram:${profile}/${chat}${topic === null ? "" : `/${topic}`}`;
  const audience = section(section(raw, "audiences"), pairing.audience);
  const isNew = audience["destinations"] === undefined;
  audience["destinations"] = withMember(audience["destinations"], destination);
  // Left out means everybody whom the profile allows, which includes this one; a new audience names who it is.
  if (isNew || audience["people"] !== undefined) audience["people"] = withMember(audience["people"], person);
  const text = `${JSON.stringify(raw, null, 2)}\n`;
  return { text, config: parseConfig(text, path), person, destination };
}

/**
 * Writes the text in one step: who reads the file at any moment has the old or the new one. Throws `setupFailed` when the file is
 * not `before` any more.
 */
export function writeConfig(path: string, before: string | null, text: string): void {
  if (configText(path) !== before)
    throw new HoldpointError("setupFailed", `${path} was changed by somebody else meanwhile; it was left as it is.`);
  // A link stays a link to the file that is replaced.
  const target = before === null ? path : realpathSync(path);
  const temporary = `${target}.${process.pid}.new`;
  let file: number | null = null;
  try {
    file = openSync(temporary, "wx", 0o600);
    writeSync(file, text);
    fsyncSync(file);
    closeSync(file);
    file = null;
    renameSync(temporary, target);
    const folder = openSync(dirname(target), "r");
    fsyncSync(folder);
    closeSync(folder);
  } catch (error) {
    if (file !== null) closeSync(file);
    rmSync(temporary, { force: true });
    const why = error instanceof Error ? error.message : String(error);
    throw new HoldpointError("setupFailed", `${target} cannot be written: ${why}.`);
  }
}

function fresh(): Json {
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { schema: "holdpoint.config.v1", ...(isTimeZone(zone) ? { timeZone: zone } : {}) };
}

/** The person to whom the user id belongs from now on. */
function addPerson(people: Json, { person, user }: Pairing): string {
  const owner = Object.entries(people).find(([, entry]) => idsOf(entry).includes(user.id))?.[0];
  if (owner !== undefined && person !== null && person !== owner) {
    throw new HoldpointError("setupFailed", `Telegram user ${user.id} is already "${owner}", not "${person}".`, {
      remedy: `Run it again with \`--person ${owner}\`, or take the id out of "${owner}" first.`,
    });
  }
  if (owner !== undefined) return owner;
  const id = person ?? freeName(people, user.name ?? "");
  const entry = section(people, id);
  entry["name"] ??= (user.name ?? id).slice(0, 100);
  entry["telegram"] = withMember(entry["telegram"], user.id);
  return id;
}

function idsOf(entry: unknown): unknown[] {
  const ids = typeof entry === "object" && entry !== null ? (entry as Json)["telegram"] : undefined;
  return Array.isArray(ids) ? ids : [];
}

/** From a name a word for the configuration that nobody has: "Ann Lee" → `ann`, else `person`, `person-2`, …. */
function freeName(people: Json, name: string): string {
  const word =
    /^[a-z0-9]+/.exec(name.normalize("NFD").replaceAll(/\p{M}/gu, "").toLowerCase())?.[0].slice(0, 40) ?? "person";
  for (let n = 1; ; n += 1) {
    const id = n === 1 ? word : `${word}-${n}`;
    if (!Object.hasOwn(people, id)) return id;
  }
}

function addProfile(profiles: Json, { apiRoot, chat, profile, tokenFile, user }: Pairing): void {
  const entry = section(profiles, profile);
  if (entry["tokenFile"] !== undefined && entry["tokenFile"] !== tokenFile) {
    throw new HoldpointError("setupFailed", `Profile "${profile}" has the token file ${String(entry["tokenFile"])}.`, {
      remedy: "Give that token file, or another name with `--profile`.",
    });
  }
  entry["tokenFile"] = tokenFile;
  entry["allowedUserIds"] = withMember(entry["allowedUserIds"], user.id);
  entry["allowedChatIds"] = withMember(entry["allowedChatIds"], chat);
  if (apiRoot !== null) entry["apiRoot"] = apiRoot;
}

/** An object inside an object, made when it is missing. Own properties only: names come from outside. */
function section(parent: Json, name: string): Json {
  const found = Object.hasOwn(parent, name) ? parent[name] : undefined;
  if (typeof found === "object" && found !== null) return found as Json;
  const made: Json = {};
  Object.defineProperty(parent, name, { value: made, enumerable: true, writable: true, configurable: true });
  return made;
}

function withMember(list: unknown, member: string): unknown[] {
  const known: unknown[] = Array.isArray(list) ? list : [];
  return known.includes(member) ? known : [...known, member];
}
