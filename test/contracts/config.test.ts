// The policy of an audience in the configuration: what is filled in, what is refused and how that is said.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

import { parseConfig } from "../../src/contracts/config.ts";

const profile = { tokenFile: "/t", allowedUserIds: ["1", "2"], allowedChatIds: ["1", "2"] };

function withPolicy(policy: unknown, people: string[] | undefined = ["ann", "bea"]): string {
  return JSON.stringify({
    schema: "holdpoint.config.v1",
    people: { ann: { name: "Ann", telegram: ["1"] }, bea: { name: "Bea", telegram: ["2"] } },
    audiences: {
      ops: { destinations: ["telegram:main/1"], ...(people === undefined ? {} : { people }), policy },
      "on-call": { destinations: ["telegram:main/2"] },
    },
    telegramProfiles: { main: profile },
  });
}

const refusal = (policy: unknown, people?: string[]): string => {
  try {
    parseConfig(withPolicy(policy, people), "config.json");
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error("it was taken");
};

describe("the policy of an audience", () => {
  test("may be left out, and then the first valid answer decides", () => {
    expect(parseConfig(withPolicy(undefined), "config.json").audiences["ops"]?.policy).toEqual({ quorum: 1 });
  });

  test("may leave out what has a usual value", () => {
    const { policy } = parseConfig(withPolicy({ remindAfter: { minutes: 5 } }), "config.json").audiences["ops"] ?? {};
    expect(policy).toEqual({ quorum: 1, remindAfter: { minutes: 5, atMost: 3 } });
  });

  test.each([
    [{ quorum: 3 }, "audiences.ops.policy.quorum: 3 can never be reached by 2 people."],
    [{ quorum: 0 }, "audiences.ops.policy.quorum: Too small"],
    [{ veto: ["no choice"] }, "audiences.ops.policy.veto.0"],
    [{ require: { channels: ["Telegram!"] } }, 'must be a channel such as "telegram" or "telegram:ops"'],
    [{ escalateAfter: { minutes: 5, audience: "ops" } }, 'policy.escalateAfter.audience: "ops" is the same audience.'],
    [
      { quorum: 2, escalateAfter: { minutes: 5, audience: "on-call" } },
      'policy.escalateAfter.audience: "on-call" needs "people" too; with a quorum votes are counted by person',
    ],
    [{ escalateAfter: { minutes: 5, audience: "nobody" } }, '"nobody" is not in audiences.'],
    [{ escalateAfter: { minutes: 20_000, audience: "on-call" } }, "audiences.ops.policy.escalateAfter.minutes"],
    [{ remindAfter: { minutes: 5, atMost: 21 } }, "audiences.ops.policy.remindAfter.atMost"],
    [{ remindAfter: { minutes: 5, quiet: { from: "7", to: "8:00" } } }, "must be a time of day such as 22:00"],
    [{ remindAfter: { minutes: 5, quiet: { from: "07:00", to: "07:00" } } }, "which is no part of a day"],
    [
      { remindAfter: { minutes: 5, quiet: { from: "22:00", to: "07:00", timeZone: "Berlin" } } },
      'policy.remindAfter.quiet.timeZone: "Berlin" is not an IANA time zone such as "Europe/Berlin".',
    ],
  ])("%j is refused", (policy, message) => {
    expect(refusal(policy)).toContain(message);
  });

  test("cannot count votes of an audience without people, or of one person named twice", () => {
    const withoutPeople = JSON.parse(withPolicy({ quorum: 2 })) as { audiences: { ops: { people?: string[] } } };
    delete withoutPeople.audiences.ops.people;
    expect(() => parseConfig(JSON.stringify(withoutPeople), "config.json")).toThrow(
      /quorum: 2 needs "people" beside it/,
    );
    expect(refusal({ quorum: 2 }, ["ann", "ann"])).toContain("quorum: 2 can never be reached by 1 person.");
  });

  test("is documented by a configuration that is valid, and so is the example", () => {
    const page = readFileSync("docs/audiences.md", "utf8");
    const [, json = ""] = /```json\n([^]*?)```/.exec(page) ?? [];
    const documented = parseConfig(json, "docs/audiences.md").audiences["releases"]?.policy ?? {};
    const known = ["escalateAfter", "quorum", "remindAfter", "require", "veto"];
    expect(Object.keys(documented).sort()).toEqual(known);
    expect(parseConfig(readFileSync("config.example.json", "utf8"), "config.example.json").audiences).toHaveProperty(
      "on-call",
    );
  });
});

describe("a configuration that is refused says what is wanted", () => {
  const said = (text: string): string => {
    try {
      parseConfig(text, "config.json");
    } catch (error) {
      return (error as Error).message;
    }
    throw new Error("it was taken");
  };
  const schema = { schema: "holdpoint.config.v1" };

  test("where the JSON ends to be JSON, as line and column", () => {
    expect(said('{\n  "people": {},\n}')).toContain("line 3 column 1");
  });

  test("which field may have been meant", () => {
    expect(said(JSON.stringify({ ...schema, audience: {} }))).toContain("did you mean audiences?");
    expect(said(JSON.stringify({ ...schema, xyzzyplugh: {} }))).not.toContain("did you mean");
    const deeper = { ...schema, audiences: { ops: { destinations: ["pi"], policy: { remindAftr: 5 } } } };
    expect(said(JSON.stringify(deeper))).toMatch(/audiences\.ops\.policy: .*did you mean remindAfter\?/);
    expect(said(JSON.stringify({ ...schema, server: { loglevel: "info" } }))).toContain("did you mean logLevel?");
  });

  test("which key was written twice, since only one of them would count", () => {
    const text = '{\n  "people": { "ann": { "name": "{Ann:" } },\n  "server": {},\n  "people" : {}\n}';
    expect(said(text)).toContain('the key "people" stands twice in one object, the second time at line 4 column 3');
    expect(() => parseConfig(JSON.stringify({ ...schema, people: {} }), "config.json")).not.toThrow();
  });

  test("what a name and a choice of forms may look like", () => {
    expect(said(JSON.stringify({ ...schema, people: { "a b": { name: "Ann" } } }))).toContain("letters, digits");
    expect(said(JSON.stringify({ ...schema, pi: { command: 5 } }))).toContain("pi.command: must be text, or a list");
  });

  test("in which file and audience a destination has a wrong form", () => {
    const audiences = { ops: { destinations: ["slack:x"] } };
    expect(said(JSON.stringify({ ...schema, audiences }))).toMatch(/^config\.json: audiences\.ops: .*"slack:x"/);
  });

  test.each(["0.0.0.0", "192.168.1.20", "::", "[::1", "127.0.0.1.example.org", "localhost.example.org"])(
    "that webhooks at %s could be reached by other machines, unless that is wanted",
    (host) => {
      const refused = said(JSON.stringify({ ...schema, webhooks: { port: 8_787, host } }));
      expect(refused).toContain(`webhooks.host: other machines can reach "${host}"; set "allowRemote": true`);
      const wanted = { ...schema, webhooks: { port: 8_787, host, allowRemote: true } };
      expect(parseConfig(JSON.stringify(wanted), "config.json").webhooks).toMatchObject({ host });
    },
  );

  test("and a byte order mark at its beginning is no fault", () => {
    expect(parseConfig(`\ufeff${JSON.stringify(schema)}`, "config.json").people).toEqual({});
  });
});
