// What a set-up writes: everything that was there, and what it learned.

import {
  lstatSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

import { configText, withPairing, writeConfig, type Pairing } from "../../src/cli/setup/config-change.ts";

let folder = "";
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), "hp-change-"))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const PAIRING: Pairing = {
  profile: "default",
  tokenFile: "/home/ann/.holdpoint/telegram-token",
  apiRoot: null,
  audience: "operators",
  person: null,
  user: { id: "1001", name: "Ann Lee" },
  chat: "-100200",
  topic: "7",
};

test("a first pairing makes person, audience and profile", () => {
  const { config, destination, person } = withPairing(null, PAIRING, "config.json");
  expect({ destination, person }).toEqual({ destination: "telegram:default/-100200/7", person: "ann" });
  expect(config.people).toEqual({ ann: expect.objectContaining({ name: "Ann Lee", telegram: ["1001"] }) });
  expect(config.audiences["operators"]).toMatchObject({ destinations: [destination], people: ["ann"] });
  expect(config.telegramProfiles["default"]).toMatchObject({ allowedUserIds: ["1001"], allowedChatIds: ["-100200"] });
});

test("a second person and chat are added; what is there stays, and the same pairing again changes nothing", () => {
  const first = JSON.parse(withPairing(null, PAIRING, "c").text) as Record<string, unknown>;
  const text = JSON.stringify({ ...first, retention: { runDays: 7 }, server: { logLevel: "debug" } });
  const bea: Pairing = { ...PAIRING, user: { id: "1002", name: "Ann" }, chat: "1002", topic: null };
  const second = withPairing(text, bea, "c");
  expect(second.person).toBe("ann-2");
  expect(second.config.retention.runDays).toBe(7);
  expect(second.config.server.logLevel).toBe("debug");
  expect(second.config.audiences["operators"]).toMatchObject({
    destinations: ["telegram:default/-100200/7", "telegram:default/1002"],
    people: ["ann", "ann-2"],
  });
  expect(second.config.telegramProfiles["default"]).toMatchObject({
    allowedUserIds: ["1001", "1002"],
    allowedChatIds: ["-100200", "1002"],
  });
  expect(withPairing(second.text, bea, "c").text).toBe(second.text);
});

test("an audience for everybody stays one for everybody; names from outside cannot reach a prototype", () => {
  const open = JSON.parse(withPairing(null, PAIRING, "c").text) as { audiences: Record<string, { people?: string[] }> };
  delete open.audiences["operators"]?.people;
  const { config } = withPairing(JSON.stringify(open), PAIRING, "c");
  expect(config.audiences["operators"]?.people).toBeUndefined();
  const odd = withPairing(null, { ...PAIRING, user: { id: "5", name: "__proto__" } }, "c");
  expect(odd.person).toBe("person");
  expect(withPairing(null, { ...PAIRING, user: { id: "5", name: "\u0416\u0430\u043d\u043d\u0430" } }, "c").person).toBe(
    "person",
  );
  expect(withPairing(null, { ...PAIRING, user: { id: "5", name: "constructor" } }, "c").config.people).toHaveProperty(
    "constructor",
  );
});

test("another token file of that profile, or another owner of the user id, is refused", () => {
  const { text } = withPairing(null, PAIRING, "c");
  expect(() => withPairing(text, { ...PAIRING, tokenFile: "/elsewhere" }, "c")).toThrow(/has the token file/);
  expect(() => withPairing(text, { ...PAIRING, person: "bea" }, "c")).toThrow(/already "ann"/);
  expect(() => withPairing("{", PAIRING, "c")).toThrow(/not valid JSON/);
});

test("the file is replaced in one step, mode 0600, through a link, and nothing else is left behind", () => {
  const real = join(folder, "real.json");
  const path = join(folder, "config.json");
  writeFileSync(real, "{}", { mode: 0o644 });
  symlinkSync(real, path);
  writeConfig(path, configText(path), "{ }\n");
  expect(readFileSync(real, "utf8")).toBe("{ }\n");
  expect(lstatSync(path).isSymbolicLink()).toBe(true);
  expect(statSync(real).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).toSorted()).toEqual(["config.json", "real.json"]);
});

test("a file that somebody changed meanwhile is left as it is", () => {
  const path = join(folder, "config.json");
  writeFileSync(path, "old");
  const before = configText(path);
  writeFileSync(path, "other");
  expect(() => writeConfig(path, before, "new")).toThrow(/changed by somebody else/);
  expect(readFileSync(path, "utf8")).toBe("other");
});
