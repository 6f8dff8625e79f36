/** Probes of this machine: a command as a supervised process group, and a file. */
import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { MONITOR } from "../../contracts/limits.ts";
import type { CheckOf } from "../../contracts/monitor/probe.ts";
import { type Registrar, runCommand } from "../shell/index.ts";
import { withinTime } from "./connect.ts";
import { errorCodeOf } from "./error-code.ts";
import { detailOf, failed, FINE, jsonFinding, type Seen } from "./expect.ts";

export async function probeCommand(
  { target, expect }: CheckOf<"command">,
  timeoutMs: number,
  registrar: Registrar,
): Promise<Seen> {
  const { args, command, cwd } = target;
  const result = await runCommand(
    { command, args, cwd, timeoutMs, maxOutputChars: MONITOR.commandOutputChars },
    registrar,
    new AbortController().signal,
  );
  if (result.startError !== undefined) return failed({ code: "notStarted", detail: detailOf(result.startError) });
  if (result.timedOut) return failed({ code: "timeout", seconds: timeoutMs / 1_000, phase: "run" });
  if (result.exitCode === null) return failed({ code: "signal", signal: detailOf(result.signal ?? "") });
  if (result.exitCode !== expect.exitCode) {
    const said = lastLine(result.stderr) ?? lastLine(result.stdout);
    const detail = said === undefined ? {} : { detail: said };
    return failed({ code: "exitCode", seen: result.exitCode, expected: expect.exitCode, ...detail });
  }
  if (expect.output !== undefined && !result.stdout.includes(expect.output))
    return failed({ code: "output", expected: detailOf(expect.output) });
  const finding = jsonFinding(result.stdout, expect.json);
  return finding === undefined ? FINE : failed(finding);
}

function lastLine(text: string): string | undefined {
  const line = text.trim().split("\n").at(-1)?.trim();
  return line === undefined || line === "" ? undefined : detailOf(line);
}

export function probeFile({ target, expect }: CheckOf<"file">, timeoutMs: number, now: number): Promise<Seen> {
  return withinTime(timeoutMs, () => lookAt(target.path, expect, now), "answer");
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
