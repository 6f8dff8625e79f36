// What `holdpoint doctor` finds, and what it says to do.

import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";

import { judgeDisk } from "../../src/cli/doctor/storage.ts";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { displayWidth } from "../../src/cli/layout.ts";
import { startFakeServer } from "../client/fake-server.ts";
import { serverStatus } from "../client/views.ts";
import { holdpoint } from "./run-in-process.ts";

interface Check {
  readonly name: string;
  readonly state: string;
  readonly found: string;
  readonly remedy: string | null;
}

let home = "";
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hp-doctor-"));
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

/** A program that says it is a Pi of this version. */
function pi(version: string): string {
  const path = join(home, `pi-${version}`);
  writeFileSync(path, `#!/bin/sh\necho ${version}\n`, { mode: 0o700 });
  return path;
}

function configure(more: object): void {
  writeFileSync(join(home, "config.json"), JSON.stringify({ schema: "holdpoint.config.v1", ...more }));
}

async function examine(at = home): Promise<{ code: number; healthy: boolean; check: (name: string) => Check }> {
  const { code, out } = await holdpoint(["doctor", "--json", "--home", at]);
  const { healthy, checks } = (JSON.parse(out) as { result: { healthy: boolean; checks: Check[] } }).result;
  const check = (name: string): Check => checks.findLast((one) => one.name === name) ?? expect.fail(`no ${name}`);
  return { code, healthy, check };
}

test("a home that is ready is healthy: Node, home, disk, configuration, Pi with its version", async () => {
  configure({ pi: { command: pi("1.6.0") } });
  const { check, code, healthy } = await examine();
  expect({ code, healthy }).toEqual({ code: 0, healthy: true });
  for (const name of ["Node", "Home"]) expect(check(name).state, name).toBe("ok");
  expect(check("Disk").found).toMatch(/\d (GiB|MiB) free/);
  expect(check("Pi for agent nodes")).toMatchObject({ state: "ok", found: expect.stringContaining("Pi 1.6.0") });
  expect(check("Server")).toMatchObject({ state: "note", found: expect.stringContaining("none runs") });
  expect(check("Database")).toMatchObject({ state: "note", found: expect.stringContaining("none yet") });
});

test("a disk that is nearly full is noted, and one that will refuse within hours is wrong", () => {
  expect(judgeDisk(5_000_000_000, "/home").state).toBe("ok");
  expect(judgeDisk(500_000_000, "/home")).toMatchObject({ state: "note", found: "477 MiB free for /home" });
  expect(judgeDisk(50_000_000, "/home").state).toBe("wrong");
});

test("people read it in 80 columns, with what to do, and a token is never shown", async () => {
  const tokenFile = join(home, "token");
  writeFileSync(tokenFile, "123:abc\n", { mode: 0o644 });
  chmodSync(tokenFile, 0o644);
  configure({
    telegramProfiles: { default: { tokenFile, allowedUserIds: ["1001"], allowedChatIds: ["1001"] } },
    pi: { command: pi("1.1.9") },
  });
  const { code, out } = await holdpoint(["doctor", "--home", home]);
  expect(code).toBe(EXIT.config.code);
  for (const line of out.split("\n")) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
  const text = out.replace(/\s+/g, " ");
  expect(text).toMatch(/wrong Token file: .*has mode 644/);
  expect(text).toContain("chmod 600");
  expect(text).toMatch(/wrong Pi for agent nodes: .*need Pi 1\.2\.0 or newer .*found: Pi 1\.1\.9/);
  expect(text).toContain("Something is wrong");
  expect(out).not.toContain("123:abc");
});

test("a home that others can look into, and a configuration that is not valid, are wrong", async () => {
  chmodSync(home, 0o755);
  configure({ pi: { command: 7 } });
  const { check, code } = await examine();
  expect(code).toBe(EXIT.config.code);
  expect(check("Home")).toMatchObject({ state: "wrong", remedy: expect.stringContaining("chmod 700") });
  expect(check("Configuration")).toMatchObject({ state: "wrong", found: expect.stringContaining("pi.command") });
});

test("a home that does not exist yet is no fault, and is not made", async () => {
  const { check } = await examine(join(home, "new"));
  expect(check("Home").state).toBe("note");
  expect(check("Configuration").state).toBe("note");
  expect((await examine(join(home, "new"))).check("Home").state).toBe("note");
});

test("a running server is named; one that keeps an earlier configuration is wrong", async () => {
  const error = { code: "HP201", kind: "configInvalid", message: "people is no object", remedy: "Correct it." };
  let configError: typeof error | null = null;
  const server = await startFakeServer({
    handle: () => ({ outcome: "accepted", result: { ...serverStatus(), configError } }),
  });
  try {
    expect((await examine(server.home)).check("Server").state).toBe("ok");
    configError = error;
    expect((await examine(server.home)).check("Server")).toMatchObject({
      state: "wrong",
      found: expect.stringContaining("people is no object"),
      remedy: "Correct it.",
    });
  } finally {
    await server.close();
  }
});
