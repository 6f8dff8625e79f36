/**
 * Reads what strace wrote about one process: every change of a file in one folder, every sync, and every line of its
 * standard output, in the order in which the calls ended.
 */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

export type TraceEvent =
  | { readonly kind: "open"; readonly path: string; readonly truncate: boolean }
  | { readonly kind: "write"; readonly path: string; readonly offset: number; readonly data: Buffer }
  | { readonly kind: "truncate"; readonly path: string; readonly size: number }
  | { readonly kind: "sync"; readonly path: string }
  | { readonly kind: "rename"; readonly path: string; readonly to: string }
  | { readonly kind: "unlink"; readonly path: string }
  | { readonly kind: "reply"; readonly text: string };

const CALLS =
  "open,openat,creat,write,writev,pwrite64,pwritev,pwritev2,copy_file_range,sendfile,fallocate,fsync,fdatasync," +
  "sync_file_range,ftruncate,truncate,rename,renameat,renameat2,link,linkat,unlink,unlinkat";

/** Flags of strace: only these calls stop the process, strings come whole and in hex, descriptors with their paths. */
export function straceArgs(output: string): string[] {
  return ["-f", "--seccomp-bpf", "-y", "-xx", "-s", "4194304", "-e", `trace=${CALLS}`, "-o", output];
}

/** Null when strace can be used here, else why not. */
export function straceProblem(): string | null {
  const { error, status, stderr } = spawnSync("strace", [...straceArgs("/dev/null"), process.execPath, "--version"], {
    encoding: "utf8",
  });
  if (error !== undefined) return "strace is not installed";
  return status === 0 ? null : `strace cannot trace here: ${stderr.trim().split("\n").at(-1)}`;
}

/**
 * Parses the file `trace`; only paths inside `folder` count. Throws on a call that changes something there in a way which
 * this reader does not know, so that nothing can pass unseen.
 */
export function readTrace(trace: string, folder: string): TraceEvent[] {
  const here = [...Buffer.from(folder)].map((byte) => String.raw`\x${byte.toString(16).padStart(2, "0")}`).join("");
  const events: TraceEvent[] = [];
  for (const call of wholeCalls(readFileSync(trace, "latin1"))) {
    // Calls that failed changed nothing.
    if ((call.startsWith("write(1<") || call.includes(here)) && !/ = (-1|\?)/.test(call.slice(-100)))
      events.push(eventOf(call));
  }
  return events;
}

/** Lines of all threads, with calls that were interrupted by another thread put together where they ended. */
function* wholeCalls(text: string): Generator<string> {
  const begun = new Map<string, string>();
  for (const line of text.split("\n")) {
    const match = /^(\d+) +(.*)$/.exec(line);
    if (match === null) continue;
    const [, thread = "", call = ""] = match;
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(call);
    if (call.endsWith("<unfinished ...>")) begun.set(thread, call.slice(0, -"<unfinished ...>".length));
    else if (resumed !== null) yield (begun.get(thread) ?? "") + (resumed[1] ?? "");
    else yield call;
  }
}

const FD = String.raw`(\d+)<((?:\\x[0-9a-f]{2})*)>`;
const TEXT = String.raw`"((?:\\x[0-9a-f]{2})*)"(\.\.\.)?`;
const DONE = String.raw` += (\d+).*$`;
const SHAPES: readonly [RegExp, (found: string[]) => TraceEvent][] = [
  [
    new RegExp(String.raw`^pwrite64\(${FD}, ${TEXT}, \d+, (\d+)\)${DONE}`),
    ([, path = "", data = "", cut, offset, done]) => writeEvent(path, data, cut, Number(offset), Number(done)),
  ],
  [
    new RegExp(String.raw`^write\(1<[^>]*>, ${TEXT}, \d+\)${DONE}`),
    ([text = ""]) => ({ kind: "reply", text: textOf(text) }),
  ],
  [new RegExp(String.raw`^f(?:data)?sync\(${FD}\)${DONE}`), ([, path = ""]) => ({ kind: "sync", path: textOf(path) })],
  [
    new RegExp(String.raw`^ftruncate\(${FD}, (\d+)\)${DONE}`),
    ([, path = "", size]) => ({ kind: "truncate", path: textOf(path), size: Number(size) }),
  ],
  [
    // The path behind the new descriptor is the absolute one.
    new RegExp(String.raw`^openat\([^"]+${TEXT}, ([A-Z_|]+)[^)]*\) += ${FD}.*$`),
    ([, , flags = "", , path = ""]) => ({ kind: "open", path: textOf(path), truncate: flags.includes("O_TRUNC") }),
  ],
  [
    new RegExp(String.raw`^rename\(${TEXT}, ${TEXT}\)${DONE}`),
    ([path = "", , to = ""]) => ({ kind: "rename", path: textOf(path), to: textOf(to) }),
  ],
  [new RegExp(String.raw`^unlink\(${TEXT}\)${DONE}`), ([path = ""]) => ({ kind: "unlink", path: textOf(path) })],
];

function eventOf(call: string): TraceEvent {
  for (const [shape, make] of SHAPES) {
    const found = shape.exec(call);
    if (found !== null) return make(found.slice(1));
  }
  throw new Error(`A change of a file that this reader does not know: ${call.slice(0, 300)}`);
}

function writeEvent(path: string, data: string, cut: string | undefined, offset: number, done: number): TraceEvent {
  if (cut !== undefined) throw new Error(`strace cut a write of ${done} bytes`);
  return { kind: "write", path: textOf(path), offset, data: bytes(data).subarray(0, done) };
}

function bytes(hex: string): Buffer {
  return Buffer.from(hex.replaceAll(String.raw`\x`, ""), "hex");
}

function textOf(hex: string): string {
  return bytes(hex).toString("utf8");
}
