/**
 * Starts children: own process group, a private pipe on descriptor 3, stdout and stderr kept as a bounded diagnostic.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { HoldpointError } from "../../contracts/errors.ts";
import { PROCESS } from "../../contracts/limits.ts";
import { bootId, groupAlive, signalGroup, startIdentity as identityOf } from "../../contracts/process-identity.ts";
import { TEST_SEAMS } from "../../contracts/test-seams.ts";
import { framePort } from "../../contracts/wire/frames.ts";
import type { Child, ChildExit, ChildSpec, Launcher, Log, Processes } from "../ports.ts";
import type { ChildFault } from "./child-faults.ts";
import { groupGone, killGroup } from "./groups.ts";

/** Entries of children by kind and channel kind, relative to the built tree; children are started by path, never imported. */
const ENTRIES = {
  runner: "../../runner/main.js",
  resource: "../../runner/resources/main.js",
  probes: "../../runner/monitors/main.js",
  "adapter:telegram": "../../../adapters/telegram/main.js",
  "adapter:pi": "../../../adapters/pi/main.js",
} as const;

/** Real time for reading what an ended child left in its pipe. */
const DRAIN_MS = 1_000;

/** Variables of the server that are no business of a child. */
const WITHHELD = [...TEST_SEAMS, "HOLDPOINT_READY_LINE", "HOLDPOINT_ON_DEMAND", "HOLDPOINT_END_WITH_STDIN"];

/** Told of every group that this server starts. */
export type GroupWatch = Pick<Processes, "watch" | "unwatch">;

/** `adapterEntries` adds channel kinds by absolute path (test adapters); `fault` kills children in crash tests. */
export function systemLauncher(
  log: Log,
  groups: GroupWatch,
  adapterEntries: Readonly<Record<string, string>> = {},
  fault: ChildFault | null = null,
): Launcher {
  return {
    async launch<In, Out>(spec: ChildSpec<In>): Promise<Child<In, Out>> {
      const entry = entryOf(spec, adapterEntries);
      const env = { ...process.env };
      for (const name of WITHHELD) delete env[name];
      const bounds = spec.heapMb === undefined ? [] : [`--max-old-space-size=${spec.heapMb}`];
      const proc = spawn(process.execPath, [...bounds, entry], {
        detached: true,
        stdio: ["ignore", "pipe", "pipe", "pipe"],
        env,
      });
      const ended = watchExit(proc, spec, log);
      const pid = proc.pid;
      if (pid === undefined) {
        const { diagnostic } = await ended;
        throw new HoldpointError("childStart", `The ${spec.kind} for ${spec.name} could not be started: ${diagnostic}`);
      }
      groups.watch(pid, "child");
      void ended.then(() => groups.unwatch(pid));
      const startIdentity = identityOf(pid) ?? `gone@${bootId()}`;
      const pipe = framePort<In, Out>(proc.stdio[3] as Duplex, spec.schema, { gather: true });
      const port = fault?.watch(spec, pipe, () => proc.kill("SIGKILL")) ?? pipe;
      const drained = new Promise<void>((resolve) => port.onClose(() => resolve()));
      // What the child sent just before its end is still in the pipe: read to its end before the exit is told.
      const exited = ended.then(async (exit) => {
        await Promise.race([drained, sleep(DRAIN_MS, undefined, { ref: false })]);
        port.close();
        return exit;
      });
      return {
        childId: randomUUID(),
        pid,
        startIdentity,
        port,
        exited,
        stop: (graceMs) => stop({ pid, name: spec.name, log }, port.close.bind(port), exited, graceMs),
      };
    },
  };
}

function entryOf(spec: ChildSpec<unknown>, adapterEntries: Readonly<Record<string, string>>): string {
  if (spec.kind !== "adapter") return fileURLToPath(new URL(ENTRIES[spec.kind], import.meta.url));
  const [kind = ""] = spec.name.split(":", 1);
  const extra = Object.hasOwn(adapterEntries, kind) ? adapterEntries[kind] : undefined;
  if (extra !== undefined) return extra;
  if (kind === "telegram" || kind === "pi") return fileURLToPath(new URL(ENTRIES[`adapter:${kind}`], import.meta.url));
  throw new HoldpointError("channelUnknown", `No adapter exists for channel "${spec.name}".`);
}

function watchExit(proc: ChildProcess, spec: ChildSpec<unknown>, log: Log): Promise<ChildExit> {
  let diagnostic = "";
  const collect = (stream: "stdout" | "stderr") => (chunk: Buffer) => {
    const text = chunk.toString("utf8");
    log.debug({ child: spec.kind, name: spec.name, stream, text: text.slice(0, 2_000) }, "child output");
    if (stream === "stderr") diagnostic = (diagnostic + text).slice(-PROCESS.diagnosticBytes);
  };
  proc.stdout?.on("data", collect("stdout"));
  proc.stderr?.on("data", collect("stderr"));
  return new Promise((resolve) => {
    proc.once("error", (error) => resolve({ code: null, signal: null, diagnostic: error.message }));
    // "exit", not "close": a grandchild that keeps our pipes open must not hide the end of the child.
    proc.once("exit", (code, signal) => setImmediate(() => resolve({ code, signal, diagnostic })));
  });
}

/** Closes the pipe, TERM, bounded wait, KILL, and then proves that the whole group is gone. */
async function stop(
  { pid, name, log }: { readonly pid: number; readonly name: string; readonly log: Log },
  closePipe: () => void,
  exited: Promise<ChildExit>,
  graceMs: number,
): Promise<ChildExit> {
  if (!groupAlive(pid)) return exited;
  signalGroup(pid, "SIGTERM");
  closePipe();
  await groupGone(pid, graceMs);
  if (groupAlive(pid)) await killGroup(pid, name, log);
  return exited;
}
