/**
 * Transpiled code by content: in memory for the next launch in this process, in a folder for the next process. A file
 * carries the hash of what it holds, so that a torn one is never executed.
 */
import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { transpile, type Transform } from "./jiti-core.ts";

type Given = Parameters<Transform>[0];
type Made = ReturnType<Transform>;

/** Changes with whatever else decides what the transpiler makes: its version, and this file's format. */
const FORMAT = "jiti 2.7.0, 1";
/** Far more than the files of one workflow. */
const KEPT = 2_000;
/** A text of the transpiler that stands for an error; it is not kept. */
const FAILED = "__JITI_ERROR__";

const memory = new Map<string, Made>();

/** Forgets what is in memory; as a new process would. */
export function forgetTransformed(): void {
  memory.clear();
}

/** A transform that looks into the caches first. `folder` null: memory only. */
export function cachedTransform(folder: string | null): Transform {
  return (given) => {
    const key = keyOf(given);
    const known = memory.get(key) ?? (folder === null ? undefined : stored(join(folder, key)));
    const made = known ?? transpile(given);
    if (made.error !== undefined || made.code.includes(FAILED)) return made;
    if (memory.size >= KEPT) memory.clear();
    memory.set(key, made);
    if (known === undefined && folder !== null) store(folder, key, made.code);
    return made;
  };
}

function keyOf({ source, ...options }: Given): string {
  return sha256(`${JSON.stringify([FORMAT, options])}\n${source}`);
}

function stored(path: string): Made | undefined {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
  const code = text.slice(65);
  return text.slice(0, 64) === sha256(code) ? { code } : undefined;
}

/** A cache that cannot be written costs time, nothing else. */
function store(folder: string, key: string, code: string): void {
  const temporary = join(folder, `${key}.${randomUUID()}`);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(temporary, `${sha256(code)}\n${code}`, { mode: 0o600 });
    renameSync(temporary, join(folder, key));
  } catch {
    // The next process transpiles again.
  }
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
