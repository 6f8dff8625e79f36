/** A service under measurement: its home, its server process, a client, and a reader of what it stored. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import Database from "better-sqlite3";
import { connect, type HoldpointClient } from "../../src/client/index.ts";

const MEGABYTE = 1_024 * 1_024;
/** A guard against hanging, not a limit. */
const HANG_MS = 60_000;

export interface ServerOptions {
  /** Folder of the built product, usually dist/. */
  readonly dist: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Built form of children/gc.ts: the server can be told to collect garbage. */
  readonly gc?: string;
  /** Put before the server's command line, for a tracer. */
  readonly before?: readonly string[];
}

/** Makes a home with this many chats, one audience (`audience0`…) for each, and one person who may answer. */
export function makeHome(home: string, chats = 1, maxRuns = 8): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  const ids = Array.from({ length: chats }, (_, index) => `${5_000 + index}`);
  writeFileSync(join(home, "token"), "1:bench", { mode: 0o600 });
  const profile = {
    tokenFile: join(home, "token"),
    allowedUserIds: ["1001"],
    allowedChatIds: ids,
    apiRoot: "http://127.0.0.1:9",
  };
  const audiences = ids.map((id, index) => [
    `audience${index}`,
    { destinations: [`telegram:default/${id}`], people: ["ann"] },
  ]);
  const config = {
    schema: "holdpoint.config.v1",
    people: { ann: { name: "Ann", telegram: ["1001"] } },
    audiences: Object.fromEntries(audiences),
    telegramProfiles: { default: profile },
    server: { maxRuns, logLevel: "info" },
  };
  writeFileSync(join(home, "config.json"), JSON.stringify(config));
}

/** A home without any channel. */
export function makeBareHome(home: string, maxRuns = 8): void {
  mkdirSync(home, { recursive: true, mode: 0o700 });
  writeFileSync(
    join(home, "config.json"),
    JSON.stringify({ schema: "holdpoint.config.v1", server: { maxRuns, logLevel: "info" } }),
  );
}

/** Servers that have not ended; none may outlive the benchmark, also when it fails. Their children end with them. */
const running = new Set<number>();
process.on("exit", () => {
  for (const pid of running) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended.
    }
  }
});

export class Server {
  readonly pid: number;
  /** From the start of the process until it said that it is ready. */
  readonly readyMs: number;
  readonly #process: ChildProcess;
  readonly #exited: Promise<unknown>;

  private constructor(process: ChildProcess, exited: Promise<unknown>, pid: number, readyMs: number) {
    this.#process = process;
    this.#exited = exited;
    this.pid = pid;
    this.readyMs = readyMs;
  }

  static async start(home: string, options: ServerOptions): Promise<Server> {
    const { before = [], dist, env = {}, gc } = options;
    const node = [
      process.execPath,
      ...(gc === undefined ? [] : ["--expose-gc", "--import", gc]),
      join(dist, "src/server/main.js"),
    ];
    const [command = "", ...args] = [...before, ...node];
    const { NODE_EXTRA_CA_CERTS: _, ...inherited } = process.env;
    const started = performance.now();
    const child = spawn(command, args, {
      env: { ...inherited, HOLDPOINT_HOME: home, HOLDPOINT_READY_LINE: "1", ...env },
      stdio: ["ignore", "pipe", "pipe", ...(gc === undefined ? [] : (["ipc"] as const))],
    });
    let words = "";
    child.stderr?.on("data", (chunk: Buffer) => (words = (words + chunk.toString()).slice(-4_000)));
    const exited = once(child, "exit");
    const line = await Promise.race([
      once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), "line"),
      exited.then(() => null),
    ]);
    const readyMs = performance.now() - started;
    const said = line === null ? { ready: false } : (JSON.parse(line[0] as string) as { ready: boolean; pid?: number });
    if (!said.ready || said.pid === undefined)
      throw new Error(`the server did not start: ${JSON.stringify(said)} ${words}`);
    const { pid } = said;
    running.add(pid);
    void exited.then(() => running.delete(pid));
    return new Server(child, exited, pid, readyMs);
  }

  /** Ends the process like a crash; resolves when it is gone. */
  async kill(): Promise<void> {
    process.kill(this.pid, "SIGKILL");
    await this.#exited;
  }

  async stop(): Promise<void> {
    process.kill(this.pid, "SIGTERM");
    await this.#exited;
  }

  /** Resident megabytes after two forced collections; only with `gc`. */
  async collectedMegabytes(): Promise<number> {
    this.#process.send({});
    const [message] = (await once(this.#process, "message")) as [{ rss: number }];
    return message.rss / MEGABYTE;
  }
}

/** Resident megabytes of a process. */
export function residentMegabytes(pid: number): number {
  const kilobytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return Number(kilobytes) / 1_024;
}

/** Processor milliseconds that a process has used so far, all its threads together (proc(5): a tick is 10 ms). */
export function processorMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

export interface StoredEvent {
  readonly index: number;
  readonly type: string;
  readonly actorId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** Reads what the server has committed, beside it. */
export class Ledger {
  readonly #db: Database.Database;

  constructor(home: string) {
    this.#db = new Database(join(home, "state.sqlite"), { readonly: true });
  }

  events(runId: string, after = -1): StoredEvent[] {
    return this.#db
      .prepare(
        `SELECT event_index AS "index", event_type AS type, actor_id AS actorId, recorded_at AS at FROM events JOIN runs USING (resource_no)
         WHERE run_id = ? AND event_index > ? ORDER BY event_index`,
      )
      .all(runId, after) as StoredEvent[];
  }

  /** The first event after index `after` that fits; waits for it, and throws when the run comes to a bad end before. */
  async event(runId: string, after: number, fits: (event: StoredEvent) => boolean): Promise<StoredEvent> {
    let from = after;
    return until(`an event of ${runId}`, () => {
      for (const event of this.events(runId, from)) {
        if (fits(event)) return event;
        from = event.index;
      }
      const trouble = this.#trouble(runId);
      if (trouble !== undefined) throw new Error(`run ${runId} goes no further: ${trouble}`);
      return undefined;
    });
  }

  #trouble(runId: string): string | undefined {
    return this.#db
      .prepare(
        `SELECT coalesce(r.error, q.error, q.park_reason) FROM runs r JOIN run_queue q USING (run_no)
         WHERE run_id = ? AND (r.status = 'failed' OR (q.status = 'parked' AND q.park_reason <> 'decision'))`,
      )
      .pluck()
      .get(runId) as string | undefined;
  }

  lastIndex(runId: string): number {
    const row = this.#db
      .prepare("SELECT event_count - 1 AS last FROM resources JOIN runs USING (resource_no) WHERE run_id = ?")
      .get(runId) as { last: number };
    return row.last;
  }

  number(sql: string, ...params: (string | number)[]): number {
    return this.#db
      .prepare(sql)
      .pluck()
      .get(...params) as number;
  }

  /** The number that a run gives as its output; waits for the end of the run. */
  async numberFrom(runId: string): Promise<number> {
    await this.event(runId, -1, ({ type }) => type === "run.finished");
    return this.number("SELECT CAST(final_output AS REAL) FROM runs WHERE run_id = ? AND status = 'completed'", runId);
  }

  numbers(sql: string): number[] {
    return this.#db.prepare(sql).pluck().all() as number[];
  }

  close(): void {
    this.#db.close();
  }
}

/** Ends every runner of a service that has nothing to do, so that the next launch needs a new process. */
export async function endRunners(ledger: Ledger): Promise<void> {
  const alive = "SELECT pid FROM child_processes WHERE kind = 'runner' AND ended_at IS NULL";
  for (const pid of ledger.numbers(alive)) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It has just ended by itself.
    }
  }
  await until("the end of the runners", () => (ledger.numbers(alive).length === 0 ? true : undefined));
}

/** Waits until `look` gives something, looking every so many milliseconds. */
export async function until<T>(
  what: string,
  look: () => T | undefined | Promise<T | undefined>,
  everyMs = 5,
): Promise<T> {
  const deadline = performance.now() + HANG_MS;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`${what} did not come within ${HANG_MS / 1_000} s`);
    await sleep(everyMs);
  }
}

/** Writes a workflow into a project beside the home; returns what `run.start` needs. */
export function makeWorkflow(
  folder: string,
  name: string,
  source: string,
): { workflow: string; workflowPath: string; projectPath: string } {
  mkdirSync(folder, { recursive: true });
  const workflowPath = join(folder, `${name}.workflow.ts`);
  writeFileSync(workflowPath, source);
  return { workflow: name, workflowPath, projectPath: folder };
}

export async function openClient(home: string): Promise<HoldpointClient> {
  return connect({ home });
}
