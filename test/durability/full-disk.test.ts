/**
 * A disk that is full in the middle of a batch: what was accepted is there after a restart, what was refused left nothing
 * behind, and repeating everything with the same keys completes it, each command once.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildChildren, type Built } from "../adapters/built.ts";
import { BALLAST, type DiskReply, repliesIn } from "./replies.ts";

const folder = mkdtempSync(join(tmpdir(), "holdpoint-full-disk-"));
let built: Built;

beforeAll(() => {
  built = buildChildren(["test/durability/full-disk.ts"]);
}, 60_000);
afterAll(() => {
  built.remove();
  rmSync(folder, { recursive: true, force: true });
});

/** A file system of its own, which vanishes with the process that made it; without root only where Linux allows that. */
const inOwnDisk = ["-rm", "sh", "-c", 'mount -t tmpfs -o size="$1" none "$2" && shift 2 && "$@"', "sh"];
const probe = join(folder, "probe");
mkdirSync(probe);
const noDisk = spawnSync("unshare", [...inOwnDisk, "1m", probe, "true"], { encoding: "utf8" });
const skipped =
  noDisk.status === 0 ? null : `no small disk can be made here (${(noDisk.error?.message ?? noDisk.stderr).trim()})`;
if (skipped !== null) process.stderr.write(`\n*** The test of a really full disk was SKIPPED: ${skipped}.\n\n`);

type Batch = Extract<DiskReply, { kind: "batch" }>;
type Found = Extract<DiskReply, { kind: "found" }>;

/** What the replies of `work` and `again` must satisfy, whatever filled the disk. */
function judge(worked: readonly DiskReply[], repeated: readonly DiskReply[]): { refused: Batch; last: Batch } {
  const batches = worked.filter((reply): reply is Batch => reply.kind === "batch");
  expect(worked).toHaveLength(batches.length);
  const outcomes = new Map(
    batches.flatMap(({ keys, outcomes }) => keys.map((key, at) => [key, outcomes[at] as string])),
  );
  const accepted = [...outcomes.keys()].filter((key) => outcomes.get(key) === "accepted");
  const refused = batches.find((batch) => batch.outcomes.some((outcome) => outcome !== "accepted"));
  if (refused === undefined) throw new Error("nothing was refused: the disk was never full");
  expect(batches[0]?.outcomes).toEqual(["accepted", "accepted", "accepted"]);

  const [before, after] = repeated.filter((reply): reply is Found => reply.kind === "found") as [Found, Found];
  const big = (keys: readonly string[]): number =>
    keys.filter((key) => key.endsWith("-1") && key !== "0-1" && key !== batches.at(-1)?.keys[1]).length;
  for (const [found, keys] of [
    [before, accepted],
    [after, [...outcomes.keys()]],
  ] as const) {
    expect([...found.keys].sort()).toEqual([...keys].sort());
    const runs = keys.length;
    expect(found.rows).toEqual({
      run_queue: runs,
      run_continuations: runs,
      resources: runs,
      events: runs,
      server_commands: runs,
      blobs: big(keys),
    });
    expect(found.problems).toEqual(["ok"]);
  }
  const second = repeated.filter((reply): reply is Batch => reply.kind === "batch");
  for (const { keys, outcomes: now } of second) {
    expect(now).toEqual(keys.map((key) => (outcomes.get(key) === "accepted" ? "adopted" : "accepted")));
  }
  return { refused, last: batches.at(-1) as Batch };
}

describe("a database that may not grow", () => {
  it("refuses the batch whose second command finds no space; none of the three is lost or half-committed after a restart", () => {
    const home = join(folder, "limited");
    mkdirSync(home);
    const run = (...args: string[]): DiskReply[] => {
      const child = spawnSync(process.execPath, [built.path("test/durability/full-disk.ts"), ...args], {
        encoding: "utf8",
      });
      expect(child.stderr).toBe("");
      return repliesIn(child.stdout);
    };
    const worked = run("work", home, "30");
    const batches = worked.filter(({ kind }) => kind === "batch").length;
    const { refused, last } = judge(worked, run("again", home, String(batches)));
    expect(refused.outcomes[1]).toBe("diskFull");
    // Smaller things still fit, and the same connection stores them.
    expect(last.outcomes).toEqual(["accepted", "accepted", "accepted"]);
  });
});

describe.skipIf(skipped !== null)(
  `a disk that is really full${skipped === null ? "" : ` (SKIPPED: ${skipped})`}`,
  () => {
    it("refuses what does not fit, keeps what was accepted, and goes on when space was made", () => {
      const home = join(folder, "small");
      mkdirSync(home);
      const node = `"${process.execPath}" "${built.path("test/durability/full-disk.ts")}"`;
      const script = [
        `head -c 3000000 /dev/zero > "${home}/${BALLAST}"`,
        `${node} work "${home}" 0 > "${home}.first"`,
        // The second process runs on the same small disk, after its ballast was thrown off.
        `${node} again "${home}" "$(grep -c batch "${home}.first")"`,
        `cat "${home}.first"`,
      ].join("\n");
      const child = spawnSync("unshare", [...inOwnDisk, "8m", home, "sh", "-c", script], { encoding: "utf8" });
      expect(child.status, child.stderr).toBe(0);
      const replies = repliesIn<DiskReply>(child.stdout);
      const end = replies.findLastIndex(({ kind }) => kind === "found") + 1;
      const { refused } = judge(replies.slice(end), replies.slice(0, end));
      expect(refused.outcomes).toEqual(["diskFull", "diskFull", "diskFull"]);
    });
  },
);
