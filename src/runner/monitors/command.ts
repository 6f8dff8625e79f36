/** The probe of a command: a supervised process group. */
import { MONITOR } from "../../contracts/limits.ts";
import type { CheckOf } from "../../contracts/monitor/probe.ts";
import { type Registrar, runCommand } from "../shell/index.ts";
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
