/**
 * The remote side of the stand-in's control channel: starts it as a process of its own and gives the same actions as
 * the in-process `Sim`, each as a promise. The channel is HTTP on a loopback port of its own, so it still works while
 * the Bot API port is down. It never passes through `/bot<token>/`.
 */
import { spawn } from "node:child_process";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type {
  Clock,
  Faults,
  FaultSpec,
  People,
  ServerKnobs,
  SimOptions,
  SimState,
  Spoken,
  StateTest,
  Tapped,
  WaitOptions,
} from "./types.ts";
import { CLOCK_ACTIONS, FAULT_ACTIONS, PEOPLE_ACTIONS, SERVER_ACTIONS } from "./actions.ts";

/** The same functions, answered later. */
export type Remote<T> = {
  [K in keyof T]: T[K] extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never;
};

/** A client of a running stand-in. */
export class SimControl {
  readonly people: Remote<People>;
  readonly faults: Remote<Faults>;
  readonly clock: Remote<Clock>;
  readonly server: Remote<ServerKnobs>;
  readonly #root: string;

  /** @param controlUrl for example `http://127.0.0.1:40123`, without a path */
  constructor(controlUrl: string) {
    this.#root = `${controlUrl}/_sim`;
    this.people = this.#remote<People>("people", PEOPLE_ACTIONS);
    this.faults = this.#remote<Faults>("faults", FAULT_ACTIONS);
    this.clock = this.#remote<Clock>("clock", CLOCK_ACTIONS);
    this.server = this.#remote<ServerKnobs>("server", SERVER_ACTIONS);
  }

  /** Everything that the stand-in remembers. */
  async state(): Promise<SimState> {
    return (await this.#call("GET", "/state")) as SimState;
  }

  tap(user: number, chat: number, messageId: number, button: string | number): Promise<Tapped> {
    return this.people.tap(user, chat, messageId, button);
  }

  reply(user: number, chat: number, toMessageId: number, text: string): Promise<Spoken> {
    return this.people.reply(user, chat, toMessageId, text);
  }

  say(user: number, chat: number, text: string): Promise<Spoken> {
    return this.people.say(user, chat, text);
  }

  setFault(spec: FaultSpec): Promise<string> {
    return this.faults.add(spec);
  }

  clearFaults(): Promise<void> {
    return this.faults.clear();
  }

  /**
   * Waits until a state satisfies the test, by a long poll on the ledger's version.
   * @throws Error when the time is over, with `what` in its text
   */
  async waitFor<T>(test: StateTest<T>, options: WaitOptions = {}): Promise<T> {
    const deadline = performance.now() + (options.timeoutMs ?? 30_000);
    let state = await this.state();
    for (;;) {
      const found = test(state);
      if (found !== undefined && found !== null && found !== false) return found;
      const left = Math.ceil(deadline - performance.now());
      if (left <= 0) throw new Error(`the stand-in did not show ${options.what ?? "the expected state"} in time`);
      state = (await this.#call("GET", `/state?since=${state.version}&wait=${Math.min(left, 20_000)}`)) as SimState;
    }
  }

  #remote<T>(group: string, names: readonly string[]): Remote<T> {
    const calls: Record<string, (...args: unknown[]) => Promise<unknown>> = {};
    for (const name of names) calls[name] = (...args) => this.#call("POST", `/${group}/${name}`, args);
    return calls as Remote<T>;
  }

  async #call(method: "GET" | "POST", path: string, args?: unknown[]): Promise<unknown> {
    const response = await fetch(this.#root + path, {
      method,
      ...(args ? { headers: { "content-type": "application/json" }, body: JSON.stringify(args) } : {}),
    });
    const body = (await response.json()) as { result?: unknown; error?: string };
    if (!response.ok) throw new Error(body.error ?? `the stand-in answered ${response.status}`);
    return body.result;
  }
}

/** A stand-in that runs as a process of its own. */
export interface SimProcess {
  url: string;
  port: number;
  pid: number;
  token: string;
  control: SimControl;
  /** Ends the process by closing its standard input; resolves when it is gone. */
  close(): Promise<void>;
}

/**
 * Starts the stand-in as a child process and waits for its ready line.
 * @param entry path of `main.js` or `main.ts`; default: the one beside this file (a `.ts` entry is loaded with jiti)
 * @throws Error when the child ends before it is ready, with what it wrote to stderr
 */
export async function launchSim(options: SimOptions = {}, entry?: string): Promise<SimProcess> {
  const beside = import.meta.url.endsWith(".ts") ? "./main.ts" : "./main.js";
  const path = entry ?? fileURLToPath(new URL(beside, import.meta.url));
  // Only a source checkout has the .ts entry; there jiti loads it.
  const jitiPath = path.endsWith(".ts") ? createRequire(import.meta.url).resolve("jiti") : "";
  const loader = `const { createJiti } = require(${JSON.stringify(jitiPath)});
createJiti(${JSON.stringify(import.meta.url)}).import(${JSON.stringify(path)});`;
  const program = path.endsWith(".ts") ? ["--eval", loader] : [path];
  const child = spawn(process.execPath, program, { stdio: ["pipe", "pipe", "pipe"] });
  let complaint = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
  child.stdin.on("error", () => {});
  const gone = new Promise<void>((resolve) => child.once("close", () => resolve()));
  child.stdin.write(`${JSON.stringify(options)}\n`);
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once("line", resolve);
    child.once("error", reject);
    void gone.then(() => reject(new Error(`the stand-in ended before it was ready: ${complaint.trim()}`)));
  });
  const ready = JSON.parse(line) as { port: number; pid: number; controlPort: number; token: string };
  return {
    url: `http://127.0.0.1:${ready.port}`,
    port: ready.port,
    pid: ready.pid,
    token: ready.token,
    control: new SimControl(`http://127.0.0.1:${ready.controlPort}`),
    close: async () => {
      child.stdin.end();
      await gone;
    },
  };
}
