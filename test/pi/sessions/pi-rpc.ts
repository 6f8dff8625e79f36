/** A real Pi in RPC mode with the extension, as a program drives it: lines go in, what it says is kept, dialogs are answered. */
import { spawn, type ChildProcess } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Scope, TestHome } from "../../harness/index.ts";
import { builtEntry, childEnv, HANG_MS } from "../../harness/index.ts";
import type { Stage } from "../stage.ts";

export interface PiRecord {
  readonly type: string;
  readonly [field: string]: unknown;
}

export interface Entry {
  readonly id: string;
  readonly type: string;
  readonly customType?: string;
  readonly content?: unknown;
  readonly details?: {
    readonly messageId?: string;
    readonly message?: { readonly kind?: string; readonly reason?: string };
  };
  readonly data?: Entry["details"];
}

export interface PiOptions {
  readonly stage: Stage;
  readonly home: TestHome;
  /** Opens or creates this session; left out: a new one. */
  readonly sessionId?: string;
  /** Default: the probe, which so hears what ours takes, and the built extension. */
  readonly extensions?: readonly string[];
  readonly args?: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
}

export const EXTENSION = builtEntry("adapters/pi/extension/main.js");
export const PROBE = join(dirname(fileURLToPath(import.meta.url)), "probe.js");

export class PiRpc {
  readonly records: PiRecord[] = [];
  readonly #child: ChildProcess;
  readonly #exited: Promise<number | null>;
  readonly #responses = new Map<string, (record: PiRecord) => void>();
  readonly probeLog: string;
  #stderr = "";
  #count = 0;

  constructor(scope: Scope, { args = [], env, extensions = [PROBE, EXTENSION], home, sessionId, stage }: PiOptions) {
    const [node = "", ...first] = stage.command;
    const loaded = extensions.flatMap((path) => ["--extension", path]);
    const session = sessionId === undefined ? [] : ["--session-id", sessionId];
    this.probeLog = stage.path("probe.log");
    this.#child = spawn(node, [...first, "--mode", "rpc", ...loaded, ...session, ...args], {
      cwd: stage.cwd,
      env: childEnv({
        PI_CODING_AGENT_DIR: stage.agentDir,
        HOLDPOINT_HOME: home.dir,
        PROBE_LOG: this.probeLog,
        ...env,
      }),
      stdio: ["pipe", "pipe", "pipe"],
    });
    // Who writes to a Pi that is being killed hears of it by its end.
    this.#child.stdin?.on("error", () => undefined);
    this.#exited = new Promise((resolve) => this.#child.once("exit", (code) => resolve(code)));
    scope.add(() => this.kill());
    let rest = "";
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#take(JSON.parse(line) as PiRecord);
    });
    this.#child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.#stderr += text));
  }

  /** Pi's own process. */
  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** What the extension told the person, oldest first. */
  get notices(): string[] {
    return this.records.filter(({ method }) => method === "notify").map(({ message }) => String(message));
  }

  /** The present lines of the widget. */
  get widget(): string[] {
    const last = this.records.findLast(({ method }) => method === "setWidget");
    return (last?.["widgetLines"] as string[] | undefined) ?? [];
  }

  /** What the probe wrote down. */
  get probed(): Record<string, string>[] {
    if (!existsSync(this.probeLog)) return [];
    const lines = readFileSync(this.probeLog, "utf8").split("\n");
    return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Record<string, string>);
  }

  /** One command of Pi's protocol. */
  async send(type: string, fields: object = {}): Promise<PiRecord> {
    const id = `t${++this.#count}`;
    const response = new Promise<PiRecord>((resolve) => this.#responses.set(id, resolve));
    this.#child.stdin?.write(`${JSON.stringify({ id, type, ...fields })}\n`);
    return this.#guarded(response, `the response to ${type}`);
  }

  /** Sends a text as a program does. */
  prompt(message: string): Promise<PiRecord> {
    return this.send("prompt", { message });
  }

  /** Sends a text and waits until the agent has settled after it. */
  async turn(message: string): Promise<void> {
    const settled = (): number => this.records.filter(({ type }) => type === "agent_settled").length;
    const before = settled();
    const { success } = await this.prompt(message);
    if (success !== true) throw new Error(`Pi did not take the text: ${message}`);
    await this.until(() => (settled() > before ? true : undefined), "the end of the turn");
  }

  answerDialog(dialog: PiRecord, fields: object): void {
    this.#child.stdin?.write(`${JSON.stringify({ type: "extension_ui_response", id: dialog["id"], ...fields })}\n`);
  }

  /** The first record, also of those that came before, that fits. */
  record(test: (record: PiRecord) => boolean, what: string): Promise<PiRecord> {
    return this.until(() => this.records.find(test), what);
  }

  notice(pattern: RegExp): Promise<string> {
    return this.until(() => this.notices.find((text) => pattern.test(text)), `a notice like ${pattern}`);
  }

  async entries(): Promise<Entry[]> {
    const { data } = await this.send("get_entries");
    return (data as { entries: Entry[] }).entries;
  }

  /** The messages of ours in the session, by their kind. */
  async ours(kind?: string): Promise<Entry[]> {
    const entries = await this.entries();
    return entries.filter((entry) => {
      const details = entry.details ?? entry.data;
      return details?.messageId !== undefined && (kind === undefined || details.message?.kind === kind);
    });
  }

  /** Waits until a message of ours of this kind is there. */
  async message(kind: string, count = 1): Promise<Entry[]> {
    const began = Date.now();
    for (;;) {
      const found = await this.ours(kind);
      if (found.length >= count) return found;
      if (Date.now() - began > HANG_MS) throw new Error(`No ${count} messages "${kind}" came. ${this.#said()}`);
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Waits for a value that is not undefined. */
  async until<T>(look: () => T | undefined, what: string): Promise<T> {
    const began = Date.now();
    for (;;) {
      const found = look();
      if (found !== undefined) return found;
      if (Date.now() - began > HANG_MS) throw new Error(`${what} did not come. ${this.#said()}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** Ends Pi in good order; its exit code. */
  async quit(): Promise<number | null> {
    this.#child.stdin?.end();
    return this.#guarded(this.#exited, "the end of Pi");
  }

  /** Still there? An error of an extension would have ended it. */
  get alive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  async kill(): Promise<void> {
    if (this.alive) this.#child.kill("SIGKILL");
    await this.#exited;
  }

  #take(record: PiRecord): void {
    this.records.push(record);
    if (record.type === "response") this.#responses.get(String(record["id"]))?.(record);
  }

  async #guarded<T>(promise: Promise<T>, what: string): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`${what} did not come. ${this.#said()}`)), HANG_MS);
    });
    try {
      return await Promise.race([promise, late]);
    } finally {
      clearTimeout(timer);
    }
  }

  #said(): string {
    const telling = new Set(["tool_execution_end", "extension_error", "agent_start", "agent_settled"]);
    const lately = this.records.filter(({ type }) => telling.has(type)).slice(-8);
    return [
      `Notices: ${JSON.stringify(this.notices)}`,
      `Widget: ${JSON.stringify(this.widget)}`,
      `Lately: ${JSON.stringify(lately).slice(0, 2_000)}`,
      this.#stderr.slice(-500),
    ].join("\n");
  }
}
