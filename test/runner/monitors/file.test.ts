// Files on a disk that does not answer: how many threads that may cost, and what is said of it.
import { writeFileSync } from "node:fs";
import type * as promises from "node:fs/promises";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { PROBES } from "../../../src/contracts/limits.ts";
import type { Seen } from "../../../src/runner/monitors/expect.ts";
import { probeFile } from "../../../src/runner/monitors/file.ts";
import { tempFolder } from "../../state/fixture.ts";

/** Opens of files in a folder named "dead": each holds its thread until it is let go. */
const held = vi.hoisted(() => [] as (() => void)[]);
vi.mock("node:fs/promises", async (original) => {
  const real = await original<typeof promises>();
  const open: typeof real.open = async (path, ...rest) => {
    if (String(path).includes("/dead/")) {
      await new Promise<void>((resolve) => held.push(resolve));
      throw Object.assign(new Error("stale"), { code: "ESTALE" });
    }
    return real.open(path, ...rest);
  };
  return { ...real, open };
});

/** Short: the test waits for it, and nothing it waits for would ever come. */
const LATE_MS = 40;
const ENOUGH_MS = 30_000;
const HANGS = { code: "timeout", seconds: LATE_MS / 1_000, phase: "read" };

const see = (path: string, timeoutMs = LATE_MS): Promise<Seen> =>
  probeFile(
    { type: "file", target: { type: "file", path }, expect: { exists: true } },
    timeoutMs,
    Date.parse("2026-11-30T12:00:00Z"),
  );

/** The mount answers again. */
async function recover(): Promise<void> {
  for (const resolve of held.splice(0)) resolve();
  await new Promise((resolve) => setImmediate(resolve));
}
afterEach(recover);

test("a file that does not answer costs one thread, however often it is looked at", async () => {
  for (let times = 0; times < 3; times += 1) expect((await see("/mnt/dead/a")).finding).toEqual(HANGS);
  expect(held).toHaveLength(1);
  const next = see("/mnt/dead/a", ENOUGH_MS);
  await recover();
  await vi.waitFor(() => expect(held).toHaveLength(1));
  await recover();
  expect((await next).finding).toEqual({ code: "fileUnreadable", detail: "ESTALE" });
});

test("many files that do not answer leave threads for everything else, and a file that was not looked at says why", async () => {
  const dead = Array.from({ length: PROBES.files + 10 }, (_, index) => `/mnt/dead/${index}`);
  const seen = await Promise.all(dead.map((path) => see(path)));
  expect(held).toHaveLength(PROBES.files);
  expect(seen.slice(0, PROBES.files).every(({ finding }) => finding.code === "timeout")).toBe(true);
  const why = { code: "notProbed", detail: `${PROBES.files} files do not answer, among them /mnt/dead/0` };
  expect(seen.slice(PROBES.files).map(({ finding }) => finding)).toEqual(Array.from({ length: 10 }, () => why));
  // At once: nothing is waited for that only a dead disk could give back.
  expect((await see("/mnt/dead/another", ENOUGH_MS)).finding).toEqual(why);
  await recover();
  const path = join(tempFolder(), "backup.sql");
  writeFileSync(path, "");
  expect((await see(path, ENOUGH_MS)).ok).toBe(true);
});

test("monitors of the same healthy file are looked at one after the other", async () => {
  const path = join(tempFolder(), "backup.sql");
  writeFileSync(path, "");
  const seen = await Promise.all(Array.from({ length: PROBES.files * 2 }, () => see(path, ENOUGH_MS)));
  expect(seen.every(({ ok }) => ok)).toBe(true);
});
