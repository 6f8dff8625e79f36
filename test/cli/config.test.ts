// `holdpoint config check`: what is valid, and what is refused without showing a secret.
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { type FakeServer } from "../client/fake-server.ts";
import { holdpoint } from "./run-in-process.ts";
import { always, on } from "./fake.ts";

describe("config check", () => {
  async function home(config: (dir: string) => unknown): Promise<FakeServer> {
    const server = await always({});
    writeFileSync(join(server.home, "token"), "123:abc\n", { mode: 0o600 });
    writeFileSync(join(server.home, "config.json"), JSON.stringify(config(server.home)));
    return server;
  }
  const valid = (dir: string, tokenFile = join(dir, "token")): Record<string, unknown> => ({
    schema: "holdpoint.config.v1",
    people: { ann: { name: "Ann", telegram: ["1001"] } },
    audiences: { operators: { destinations: ["telegram:default/1001"], people: ["ann"] } },
    telegramProfiles: { default: { tokenFile, allowedUserIds: ["1001"], allowedChatIds: ["1001"] } },
  });

  test("a valid one is counted, without a server", async () => {
    const server = await home(valid);
    const { code, out } = await on(server, ["config", "check"]);
    expect(code).toBe(0);
    expect(out).toContain("1 person, 1 audience, 1 Telegram profile.");
    expect(server.hellos).toEqual([]);
  });

  test("a broken one names the field and exits with the code for configuration", async () => {
    const server = await home((dir) => ({ ...valid(dir), audiences: { operators: { destinations: [] } } }));
    const { code, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toMatch(/audiences\.operators\.destinations.*\(HP201\)/);
  });

  test("a token file that others can read is refused, and its content is never shown", async () => {
    const server = await home(valid);
    chmodSync(join(server.home, "token"), 0o644);
    const { code, out, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toContain("has mode 644; others can use it");
    expect(out + err).not.toContain("123:abc");
  });

  test("a token file that is a link is refused", async () => {
    const server = await home((dir) => valid(dir, join(dir, "link")));
    symlinkSync(join(server.home, "token"), join(server.home, "link"));
    expect((await on(server, ["config", "check"])).err.replace(/\s+/g, " ")).toContain("is a symbolic link");
  });

  test.each([
    ["is empty", "\n", "Put the token into the file, on one line."],
    ["holds more than one plain token", "123:abc\n456:def\n", "Put only the token into the file, on one line."],
    ["holds more than one plain token", "123: abc\n", "Put only the token into the file, on one line."],
  ])("a token file that %s is refused with its own remedy", async (what, content, remedy) => {
    const server = await home(valid);
    writeFileSync(join(server.home, "token"), content);
    const { code, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toContain(`${what}. (HP203)`);
    expect(err.replace(/\s+/g, " ")).toContain(`To do: ${remedy}`);
    expect(err).not.toContain("abc");
  });

  const profile = (dir: string): object => ({
    tokenFile: join(dir, "token"),
    allowedUserIds: ["1001"],
    allowedChatIds: ["1001"],
  });

  test("an apiRoot that is not http or https is refused", async () => {
    const server = await home((dir) => ({
      ...valid(dir),
      telegramProfiles: { default: { ...profile(dir), apiRoot: "file:///etc/passwd" } },
    }));
    const { code, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toContain("apiRoot: must be an http or https URL");
  });

  test("two profiles with one token file are refused, however the path is written", async () => {
    const server = await home((dir) => ({
      ...valid(dir),
      telegramProfiles: { default: profile(dir), other: { ...profile(dir), tokenFile: `${dir}/./token` } },
    }));
    const { code, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toContain('is already the token file of "default"');
  });

  test("a person who could never answer is pointed out", async () => {
    const server = await home((dir) => ({ ...valid(dir), people: { ann: { name: "Ann", telegram: [] } } }));
    const { code, out } = await on(server, ["config", "check"]);
    expect(code).toBe(0);
    expect(out.replace(/\s+/g, " ")).toContain("ann of audience operators has no Telegram id");
  });

  test("nobody is asked for a Telegram id where no chat is asked; at the terminal it is the user of the machine that counts", async () => {
    const people = { ann: { name: "Ann", terminal: ["uid:1000"] }, bea: { name: "Bea", telegram: ["1002"] } };
    const audiences = { operators: { destinations: ["terminal"], people: ["ann", "bea"] } };
    const server = await home(() => ({ schema: "holdpoint.config.v1", people, audiences }));
    const { code, out } = await on(server, ["config", "check"]);
    expect(code).toBe(0);
    expect(out.replace(/\s+/g, " ")).toContain("bea of audience operators has no terminal id and cannot answer there.");
    expect(out).not.toContain("ann of audience");
    expect(out).not.toContain("Telegram id");
  });

  test("the example in the repository has the right form", async () => {
    const { code, err } = await holdpoint(["config", "check", "config.example.json"]);
    expect(code).toBe(EXIT.config.code);
    expect(err).toContain("(HP203)");
  });
});
