/** Which Pi fits, and what is said about one that does not. */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { configSchema } from "../../../src/contracts/config.ts";
import { checkPi } from "../../../src/contracts/pi/check.ts";

let folder = "";
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "holdpoint-check-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** A program that is no Node and says this. */
function program(name: string, body: string): string {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
  return path;
}

test("a new enough Pi that is not run by a Node is accepted", async () => {
  expect(await checkPi({ command: program("new", "echo 1.6.0") })).toEqual({ ok: true, version: "1.6.0", node: null });
});

test.each([
  ["0.84.4", /Pi 0\.84\.4/],
  ["1.1.9", /Pi 1\.1\.9/],
])("Pi %s is too old, and is named", async (version, found) => {
  const check = await checkPi({ command: program(`old-${version}`, `echo ${version}`) });
  expect(check).toMatchObject({ ok: false, found: expect.stringMatching(found), needed: /Pi 1\.2\.0 or newer/ });
});

test("a Node that is too old for Pi is named, even though the program itself cannot say so", async () => {
  const script = join(folder, "cli.mjs");
  writeFileSync(script, "import { enableNothing } from 'node:module';\nconsole.log('1.6.0');\n");
  const check = await checkPi({ command: [process.execPath, script] });
  expect(check.ok).toBe(false);
  expect(check.ok ? "" : check.found).toContain(`on Node ${process.versions.node}`);
});

test("a program that is not there is named", async () => {
  const check = await checkPi({ command: "/no/such/program" });
  expect(check).toMatchObject({ ok: false, found: 'no program "/no/such/program"' });
});

test("a program that fails is reported with its error, one that says nothing usable with its end", async () => {
  const failing = await checkPi({ command: program("fails", "echo 'TypeError: x is not a function' >&2; exit 1") });
  expect(failing.ok ? "" : failing.found).toContain("code 1: TypeError: x is not a function");
  const silent = await checkPi({ command: program("silent", "exit 0") });
  expect(silent.ok).toBe(false);
});

test("the configuration names Pi by word, path or program with arguments; the default is the pi of the PATH", () => {
  const parse = (pi: unknown): unknown => configSchema.safeParse({ schema: "holdpoint.config.v1", pi }).data?.pi;
  expect(parse(undefined)).toEqual({ command: "pi" });
  expect(parse({ command: ["/n/node", "/p/cli.js"], agentDir: "/a" })).toEqual({
    command: ["/n/node", "/p/cli.js"],
    agentDir: "/a",
  });
  expect(parse({ agentDir: "relative" })).toBeUndefined();
  expect(parse({ command: [] })).toBeUndefined();
});
