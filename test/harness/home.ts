/** A temporary home with configuration and token files. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import type { Scope } from "./scope.ts";

/** A Telegram profile of a test: usually `url` and `token` of a stand-in. */
export interface TestProfile {
  readonly url: string;
  readonly token: string;
  /** Default: every configured person. */
  readonly allowedUserIds?: readonly number[];
  /** Default: every chat that a destination names. */
  readonly allowedChatIds?: readonly number[];
}

export interface HomeOptions {
  readonly profiles?: Readonly<Record<string, TestProfile>>;
  /** Name → destinations; or the whole audience. Default with a profile: `operators` → the private chat of 1001. */
  readonly audiences?: Readonly<Record<string, readonly string[] | Readonly<Record<string, unknown>>>>;
  /** Id in config → name and Telegram user id. Default: ann (1001), bea (1002). */
  readonly people?: Readonly<Record<string, { readonly name: string; readonly telegram: readonly number[] }>>;
  /** Further top-level fields of the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export interface TestHome {
  readonly dir: string;
  readonly socket: string;
  readonly database: string;
  readonly config: Record<string, unknown>;
  /** Profile → its token file. */
  readonly tokenFiles: Readonly<Record<string, string>>;
  /** Writes config.json anew. */
  writeConfig(config: unknown): void;
}

const PEOPLE = {
  ann: { name: "Ann", telegram: [1_001] },
  bea: { name: "Bea", telegram: [1_002] },
};

/** Makes a home below the system's temporary folder (short enough for a socket); removed with the scope. */
export function makeHome(scope: Scope, options: HomeOptions = {}): TestHome {
  const dir = mkdtempSync(join(tmpdir(), "hp-"));
  scope.add(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
  const profiles = options.profiles ?? {};
  const tokenFiles: Record<string, string> = {};
  for (const [name, { token }] of Object.entries(profiles)) {
    const file = join(dir, `token-${name}`);
    writeFileSync(file, `${token}\n`, { mode: 0o600 });
    tokenFiles[name] = file;
  }
  const config = configOf(options, tokenFiles);
  const writeConfig = (value: unknown): void =>
    writeFileSync(join(dir, "config.json"), JSON.stringify(value, null, 2), { mode: 0o600 });
  writeConfig(config);
  return {
    dir,
    socket: join(dir, "server.sock"),
    database: join(dir, "state.sqlite"),
    config,
    tokenFiles,
    writeConfig,
  };
}

function configOf(options: HomeOptions, tokenFiles: Record<string, string>): Record<string, unknown> {
  const people = options.people ?? PEOPLE;
  const profiles = options.profiles ?? {};
  const first = Object.keys(profiles)[0];
  const audiences = options.audiences ?? (first === undefined ? {} : { operators: [`telegram:${first}/1001`] });
  const full = Object.fromEntries(
    Object.entries(audiences).map(([name, value]) => [name, Array.isArray(value) ? { destinations: value } : value]),
  ) as Record<string, { destinations: string[] }>;
  const userIds = Object.values(people).flatMap(({ telegram }) => telegram);
  return {
    schema: "holdpoint.config.v1",
    people: Object.fromEntries(
      Object.entries(people).map(([id, { name, telegram }]) => [id, { name, telegram: telegram.map(String) }]),
    ),
    audiences: full,
    telegramProfiles: Object.fromEntries(
      Object.entries(profiles).map(([name, profile]) => [
        name,
        {
          tokenFile: tokenFiles[name],
          allowedUserIds: (profile.allowedUserIds ?? userIds).map(String),
          allowedChatIds: (profile.allowedChatIds ?? chatsOf(name, full)).map(String),
          apiRoot: profile.url,
        },
      ]),
    ),
    ...options.config,
  };
}

/** The chats that destinations of a profile name. */
function chatsOf(profile: string, audiences: Record<string, { destinations: string[] }>): string[] {
  const prefix = `telegram:${profile}/`;
  const all = Object.values(audiences).flatMap(({ destinations }) => destinations);
  const chats = all
    .filter((text) => text.startsWith(prefix))
    .map((text) => text.slice(prefix.length).split("/")[0] ?? "");
  return [...new Set(chats)];
}
