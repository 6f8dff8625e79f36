/**
 * The probe of a file. A disk or network mount that does not answer keeps a thread until it does, whatever our time limit says: so there is
 * one look at a path at a time, and a bounded number in all.
 */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { MONITOR, PROBES } from "../../contracts/limits.ts";
import type { CheckOf } from "../../contracts/monitor/probe.ts";
import { withinTime } from "./connect.ts";
import { errorCodeOf } from "./error-code.ts";
import { detailOf, failed, FINE, type Seen } from "./expect.ts";

/** Paths that are being looked at; true: for longer than that probe waited. */
const under = new Map<string, boolean>();
/** Called when a look has ended. */
const waiting = new Set<() => void>();

export async function probeFile({ target, expect }: CheckOf<"file">, timeoutMs: number, now: number): Promise<Seen> {
  const { path } = target;
  const began = performance.now();
  const place = await placeFor(path, timeoutMs);
  if (place === "crowded") return failed({ code: "notProbed", detail: crowd() });
  const hangs = failed({ code: "timeout", seconds: timeoutMs / 1_000, phase: "read" });
  // The look of an earlier probe still hangs there.
  if (place === "taken") return hangs;
  const left = Math.max(1, timeoutMs - (performance.now() - began));
  const seen = await withinTime(left, (signal) => {
    signal.addEventListener("abort", () => under.has(path) && under.set(path, true));
    return lookAt(path, expect, now).finally(() => {
      under.delete(path);
      for (const wake of waiting) wake();
    });
  });
  return seen.finding.code === "timeout" ? hangs : seen;
}

/** Waits until nobody looks at the path and a thread is free for it, at most so long; "free": the path is ours now. */
async function placeFor(path: string, timeoutMs: number): Promise<"free" | "taken" | "crowded"> {
  let over = false;
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(() => {
      over = true;
      resolve();
    }, timeoutMs);
  });
  try {
    for (;;) {
      const taken = under.has(path);
      const full = under.size >= PROBES.files;
      if (!taken && !full) {
        under.set(path, false);
        return "free";
      }
      // Nobody waits for a thread that only a dead disk could give back.
      if (over || (!taken && [...under.values()].every(Boolean))) return taken ? "taken" : "crowded";
      let wake = (): void => undefined;
      const ended = new Promise<void>((resolve) => waiting.add((wake = resolve)));
      await Promise.race([ended, late]);
      waiting.delete(wake);
    }
  } finally {
    clearTimeout(timer);
  }
}

function crowd(): string {
  const hung = [...under.keys()];
  return detailOf(`${hung.length} files do not answer, among them ${hung[0]}`);
}

async function lookAt(path: string, expect: CheckOf<"file">["expect"], now: number): Promise<Seen> {
  let file;
  try {
    // A named pipe without a writer would hold us up.
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    const code = errorCodeOf(error);
    if (code !== "ENOENT" && code !== "ENOTDIR") return failed({ code: "fileUnreadable", detail: code });
    return expect.exists ? failed({ code: "fileMissing" }) : FINE;
  }
  try {
    if (!expect.exists) return failed({ code: "fileThere" });
    const { mtimeMs, size } = await file.stat();
    const ageSeconds = Math.max(0, Math.round((now - mtimeMs) / 1_000));
    if (expect.maxAgeSeconds !== undefined && ageSeconds > expect.maxAgeSeconds)
      return failed({ code: "fileOld", ageSeconds, expected: expect.maxAgeSeconds });
    if (expect.minBytes !== undefined && size < expect.minBytes)
      return failed({ code: "fileSmall", bytes: size, expected: expect.minBytes });
    if (expect.content === undefined) return FINE;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(Math.min(size, MONITOR.fileBytes)), 0);
    if (buffer.toString("utf8", 0, bytesRead).includes(expect.content)) return FINE;
    return failed({ code: "fileContent", expected: detailOf(expect.content) });
  } catch (error) {
    return failed({ code: "fileUnreadable", detail: errorCodeOf(error) });
  } finally {
    await file.close();
  }
}
