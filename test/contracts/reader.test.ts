// Zone and language of a reader: the person's own, else the audience's, else the configuration's.

import { describe, expect, test } from "vitest";

import { parseConfig, type Config } from "../../src/contracts/config.ts";
import { readerOf } from "../../src/contracts/reader.ts";

function config(change: { person?: object; audience?: object; top?: object } = {}): string {
  return JSON.stringify({
    schema: "holdpoint.config.v1",
    people: { ann: { name: "Ann", telegram: ["1"], ...change.person } },
    audiences: {
      ops: { destinations: ["telegram:main/1", "telegram:main/-100"], ...change.audience },
      night: { destinations: ["telegram:main/-100/7"], timeZone: "Asia/Tokyo" },
    },
    telegramProfiles: { main: { tokenFile: "/t", allowedUserIds: ["1"], allowedChatIds: ["1", "-100"] } },
    timeZone: "Europe/Berlin",
    ...change.top,
  });
}

const parsed: Config = parseConfig(
  config({ person: { timeZone: "America/Lima", language: "en" }, audience: { timeZone: "Europe/Lisbon" } }),
  "config.json",
);
const channelId = "telegram:main";

describe("whoever reads a message", () => {
  test("alone with us has their own zone, whatever the audience", () => {
    expect(readerOf(parsed, { channelId, place: "1", audiences: () => ["ops"] })).toEqual({
      timeZone: "America/Lima",
      language: "en",
    });
  });

  test("in a group has that of the audience which is sent there", () => {
    expect(readerOf(parsed, { channelId, place: "-100", audiences: () => ["ops"] }).timeZone).toBe("Europe/Lisbon");
    const both = ["ops", "night"];
    expect(readerOf(parsed, { channelId, place: "-100", topic: "7", audiences: () => both }).timeZone).toBe(
      "Europe/Lisbon",
    );
    expect(readerOf(parsed, { channelId, place: "-100", topic: "7", audiences: () => ["night"] }).timeZone).toBe(
      "Asia/Tokyo",
    );
  });

  test("after a tap in a group is whoever tapped", () => {
    expect(readerOf(parsed, { channelId, place: "-100", account: "1" }).timeZone).toBe("America/Lima");
    expect(readerOf(parsed, { channelId, place: "-100", account: "2" }).timeZone).toBe("Europe/Lisbon");
  });

  test("of whom nothing is known has that of the configuration, in English", () => {
    const plain = parseConfig(config(), "config.json");
    expect(readerOf(plain, { channelId, place: "-100", audiences: () => ["ops"] })).toEqual({
      timeZone: "Europe/Berlin",
    });
    // An account of another kind of channel is another person.
    expect(readerOf(parsed, { channelId: "line:main", place: "1" }).timeZone).toBe("Europe/Berlin");
  });
});

describe("a configuration", () => {
  test.each([
    [{ person: { timeZone: "Mars/Olympus" } }, 'people.ann.timeZone "Mars/Olympus" is not an IANA time zone'],
    [{ audience: { timeZone: "CEST!" } }, 'audiences.ops.timeZone "CEST!" is not an IANA time zone'],
    [{ person: { language: "tlh" } }, 'people.ann.language: there are no words in "tlh" yet; known: en, de'],
    [{ top: { language: "fr" } }, 'language: there are no words in "fr" yet; known: en, de'],
  ])("with %j is refused, and says where", (change, message) => {
    expect(() => parseConfig(config(change), "config.json")).toThrow(message);
  });
});
