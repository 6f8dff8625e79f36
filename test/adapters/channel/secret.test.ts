// A token file is trusted only when nobody else can read or replace it, and its content shows up nowhere.

import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readSecret, redactor, redactRecord } from "../../../adapters/channel/secret.ts";
import { HoldpointError } from "../../../src/contracts/errors.ts";

const TOKEN = "123456789:AAE-x_very+secret/part";
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hp-secret-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, text: string, mode = 0o600): string {
  const path = join(folder, name);
  writeFileSync(path, text, { mode });
  chmodSync(path, mode);
  return path;
}

function refusal(path: string): HoldpointError {
  try {
    readSecret(path);
  } catch (error) {
    if (error instanceof HoldpointError) return error;
  }
  throw new Error("it was accepted");
}

describe("a token file", () => {
  test("is read when it is closed to others; the newline at its end does not count", () => {
    expect(readSecret(fileWith("good", `${TOKEN}\n`))).toBe(TOKEN);
    expect(readSecret(fileWith("readonly", TOKEN, 0o400))).toBe(TOKEN);
  });

  test.each([
    ["does not exist", () => join(folder, "missing"), "chmod 600"],
    ["has mode 640; others can use it", () => fileWith("group", TOKEN, 0o640), "chmod 600"],
    ["has mode 604; others can use it", () => fileWith("others", TOKEN, 0o604), "chmod 600"],
    ["is empty", () => fileWith("empty", " \n"), "one line"],
    ["holds more than one plain token", () => fileWith("two", `${TOKEN}\n${TOKEN}\n`), "one line"],
    ["holds more than one plain token", () => fileWith("binary", `${TOKEN}\u0000`), "one line"],
    ["has 5000 bytes; the limit is 4096", () => fileWith("large", "x".repeat(5_000)), "one line"],
    [
      "is a symbolic link",
      () => {
        symlinkSync(fileWith("target", TOKEN), join(folder, "link"));
        return join(folder, "link");
      },
      "not a link",
    ],
    [
      "is not a regular file",
      () => {
        mkdirSync(join(folder, "directory"), { mode: 0o700 });
        return join(folder, "directory");
      },
      "plain file",
    ],
    [
      "is not a regular file",
      () => {
        execFileSync("mkfifo", ["-m", "600", join(folder, "pipe")]);
        return join(folder, "pipe");
      },
      "plain file",
    ],
  ])("that %s is refused with its path and the fix", (what, make, fix) => {
    const path = make();
    const error = refusal(path);
    expect(error).toMatchObject({ kind: "tokenFile", code: "HP203" });
    expect(error.message).toBe(`Token file ${path} ${what}.`);
    expect(error.remedy).toContain(fix);
    expect(JSON.stringify(error.toRecord())).not.toContain("very+secret");
  });

  test.skipIf(process.getuid?.() !== 0)("of another user is refused with both ids", () => {
    const path = fileWith("foreign", TOKEN);
    execFileSync("chown", ["65534", path]);
    expect(refusal(path).message).toContain("belongs to user id 65534, not to 0");
  });
});

describe("redaction", () => {
  const forms = [
    TOKEN,
    encodeURIComponent(TOKEN),
    Buffer.from(TOKEN).toString("base64"),
    Buffer.from(TOKEN).toString("base64url"),
    TOKEN.slice(10),
  ];

  test.each(forms)("takes %s out of a text, everywhere", (form) => {
    const clean = redactor(TOKEN)(`https://host/bot${form}/getMe and again ${form}.`);
    expect(clean).toMatch(/^https:\/\/host\/bot(123456789:)?\[token\]\/getMe and again (123456789:)?\[token\]\.$/);
  });

  test("reaches every text of an error record", () => {
    const error = new HoldpointError("channelRefused", `no ${TOKEN}`, {
      remedy: `not ${TOKEN}`,
      details: { [TOKEN]: [TOKEN, { deep: TOKEN }], count: 3 },
    });
    const record = redactRecord(error.toRecord(), redactor(TOKEN));
    expect(JSON.stringify(record)).not.toContain("secret");
    expect(record.details).toEqual({ "[token]": ["[token]", { deep: "[token]" }], count: 3 });
  });

  test("changes nothing where there is no secret", () => {
    expect(redactor(null)("text")).toBe("text");
  });
});
