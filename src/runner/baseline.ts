/**
 * Whether user code left this process as it found it, so that it may serve another launch: no timers, handles, children
 * or listeners of its own, working folder and environment unchanged. In doubt it did not.
 *
 * Packages that the workflow imported stay loaded; its own modules are evaluated anew by every load.
 */
import { Socket as Datagrams } from "node:dgram";
import { createRequire, syncBuiltinESMExports } from "node:module";
import { Server, Socket } from "node:net";
import { readdirSync, readFileSync } from "node:fs";

const require = createRequire(import.meta.url);

/** What runs in these is not seen from here. */
const UNSEEN = ["worker_threads", "cluster", "inspector"];
/** Turns of the event loop in which what is already ending may end. */
const TURNS = 5;

/** Things that do not keep the process alive and are in no list; filled by the hooks. */
const unreferenced = new Set<{ readonly gone: () => boolean }>();
let hooked = false;

export class Baseline {
  readonly #resources = resources();
  readonly #environment = environment();
  readonly #listeners = listeners();
  readonly #globals = Reflect.ownKeys(globalThis);
  readonly #builtins = new Set(builtins());
  readonly #loadCount = loadList().length;

  private constructor() {
    if (!hooked) hook();
    hooked = true;
  }

  /** Call before any user code is loaded. */
  static async take(): Promise<Baseline> {
    // Made when they are first used, by our own code as well.
    void [process.stdout, process.stderr];
    for (let turn = 0; turn < TURNS && /CloseReq|Immediate|FSReq/.test(resources()); turn += 1) await nextTurn();
    return new Baseline();
  }

  /** What is not as it was, in a few words; null when this process may serve another launch from `cwd`. */
  async difference(cwd: string): Promise<string | null> {
    for (let turn = 0; turn < TURNS && resources() !== this.#resources; turn += 1) await nextTurn();
    // Another turn, so that a rejection nobody handles has ended the process.
    await nextTurn();
    if (resources() !== this.#resources) return `resources ${resources()}, before ${this.#resources}`;
    for (const item of unreferenced) if (item.gone()) unreferenced.delete(item);
    if (unreferenced.size > 0) return "a timer or handle that keeps nothing alive";
    if (process.cwd() !== cwd) return "the working folder";
    if (environment() !== this.#environment) return "the environment";
    if (listeners() !== this.#listeners) return "listeners of the process";
    const globals = Reflect.ownKeys(globalThis);
    if (globals.length !== this.#globals.length || globals.some((key, index) => key !== this.#globals[index]))
      return "global variables";
    if (loadList().length === this.#loadCount && !this.#builtins.has("child_process")) return null;
    const loaded = builtins().filter((name) => !this.#builtins.has(name));
    const unseen = loaded.find((name) => UNSEEN.includes(name));
    if (unseen !== undefined) return `${unseen} was loaded`;
    // Without this module nobody can have started a process.
    return builtins().includes("child_process") && hasDescendants() ? "a child process" : null;
  }
}

function resources(): string {
  return process.getActiveResourcesInfo().toSorted().join(" ");
}

function environment(): string {
  return JSON.stringify(process.env);
}

function listeners(): string {
  return process
    .eventNames()
    .map((name) => `${String(name)}:${process.listenerCount(name as string)}`)
    .join(" ");
}

/** What Node has loaded of itself; it only grows. */
function loadList(): readonly string[] {
  return (process as unknown as { moduleLoadList: readonly string[] }).moduleLoadList;
}

/** What `builtins` found, and in how long a list. */
let known: { readonly length: number; readonly names: readonly string[] } = { length: 0, names: [] };

/** Names of Node's public modules that are loaded by now. */
function builtins(): readonly string[] {
  const list = loadList();
  if (known.length !== list.length) {
    const names = list
      .filter((entry) => entry.startsWith("NativeModule ") && !entry.startsWith("NativeModule internal/"))
      .map((entry) => entry.slice("NativeModule ".length));
    known = { length: list.length, names };
  }
  return known.names;
}

/** True when a process is a child of this one or stands in its group, or when that cannot be told. */
function hasDescendants(): boolean {
  if (process.platform !== "linux") return true;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name) || Number(name) === process.pid) continue;
    try {
      const stat = readFileSync(`/proc/${name}/stat`, "utf8");
      const [state, parent, group] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      if (state === "Z" || state === "X") continue;
      if (Number(parent) === process.pid || Number(group) === process.pid) return true;
    } catch {
      // Ended between the listing and the look.
    }
  }
  return false;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Notes what is taken out of Node's own lists: unreferenced timers, sockets and servers, and watchers of files. */
function hook(): void {
  const timer = setTimeout(() => undefined, 0);
  clearTimeout(timer);
  note(Object.getPrototypeOf(timer), (it: { _destroyed?: boolean }) => it._destroyed === true);
  note(Socket.prototype, (it: Socket) => it.destroyed);
  note(Server.prototype, (it: Server) => !it.listening);
  note(Datagrams.prototype, () => false);
  const fs = require("node:fs") as Record<string, unknown>;
  for (const name of ["watch", "watchFile"]) noteCalls(fs, name, () => true);
  noteCalls(require("node:fs/promises"), "watch", () => true);
  const unreferencing = (args: readonly unknown[]): boolean =>
    (args[2] as { ref?: unknown } | undefined)?.ref === false;
  for (const name of ["setTimeout", "setInterval"]) noteCalls(require("node:timers/promises"), name, unreferencing);
  syncBuiltinESMExports();
}

/** Wraps `unref` of a prototype. */
function note<T extends object>(prototype: { unref(): unknown }, gone: (it: T) => boolean): void {
  const { unref } = prototype;
  prototype.unref = function (this: T) {
    unreferenced.add({ gone: () => gone(this) });
    return unref.call(this);
  };
}

/** Wraps a function whose effect cannot be looked up later: one such call is enough. */
function noteCalls(module: Record<string, unknown>, name: string, counts: (args: readonly unknown[]) => boolean): void {
  const original = module[name] as (...args: unknown[]) => unknown;
  module[name] = Object.assign(function (this: unknown, ...args: unknown[]) {
    if (counts(args)) unreferenced.add({ gone: () => false });
    return original.apply(this, args);
  }, original);
}
