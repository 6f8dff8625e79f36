// One instance of the extension from its session's start to its end: after that nothing of Pi is touched, and no error of ours reaches Pi.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Life } from "../../../adapters/pi/extension/life.ts";
import extension from "../../../adapters/pi/extension/main.ts";
import type { PiApi, PiContext } from "../../../adapters/pi/extension/pi-api.ts";
import { wire } from "../../../adapters/pi/extension/wiring.ts";
import { PI_CONNECT } from "../../../src/contracts/limits.ts";

type Call = (...args: unknown[]) => unknown;

/** What the extension has registered, by name: events, commands, keys, tool. */
class FakePi {
  readonly calls = new Map<string, Call>();
  readonly api = {
    on: (event: string, handler: Call) => this.calls.set(`on ${event}`, handler),
    registerTool: ({ execute }: { execute: Call }) =>
      this.calls.set("tool", (_event, context) => execute("call-1", { action: "list" }, undefined, undefined, context)),
    registerCommand: (name: string, { handler }: { handler: Call }) =>
      this.calls.set(name, (_event, context) => handler("status", context)),
    registerShortcut: (key: string, { handler }: { handler: Call }) =>
      this.calls.set(key, (_event, context) => handler(context)),
    registerMessageRenderer: () => undefined,
    registerEntryRenderer: () => undefined,
    sendMessage: () => this.#used("sendMessage"),
    appendEntry: () => this.#used("appendEntry"),
    getCommands: () => [],
  } as unknown as PiApi;
  readonly used: string[] = [];

  /** Every use of it is told; with `over`, it throws as that of a session which is over does. */
  context(over: () => boolean): PiContext {
    return new Proxy({} as PiContext, {
      get: (_target, name) => {
        this.#used(String(name));
        if (over()) throw new Error("This extension ctx is stale");
        if (name === "mode") return "rpc";
        throw new Error(`no ${String(name)} here`);
      },
    });
  }

  #used(what: string): void {
    this.used.push(what);
  }
}

const EVENT = {
  messageType: "user",
  prompt: "x",
  text: "hello",
  source: "interactive",
  reason: "quit",
  messages: [],
  toolName: "bash",
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("after the end of its session nothing uses Pi any more, whatever is still called, and nothing is thrown", async () => {
  const pi = new FakePi();
  let over = false;
  const context = pi.context(() => over);
  wire(pi.api);
  const call = (name: string): unknown => pi.calls.get(name)?.(EVENT, context);
  call("on session_start");
  call("on session_shutdown");
  over = true;
  pi.used.length = 0;
  expect([...pi.calls.keys()]).toEqual(
    expect.arrayContaining(["tool", "workflow-channel", "shift+up", "on tool_call"]),
  );
  for (const name of pi.calls.keys()) {
    const result = call(name);
    // The tool's error is Pi's to show to the model.
    if (name === "tool") await expect(result).rejects.toThrow(/could not be loaded|not loaded/i);
    else await expect(Promise.resolve(result)).resolves.toBeUndefined();
  }
  await vi.advanceTimersByTimeAsync(10 * PI_CONNECT.loadAfterMs);
  expect(pi.used).toEqual([]);
});

test("an error in a handler of ours never reaches Pi", async () => {
  const pi = new FakePi();
  // All of it but the mode throws.
  const context = pi.context(() => false);
  wire(pi.api);
  for (const [name, call] of pi.calls) if (name.startsWith("on ")) await call(EVENT, context);
  expect(pi.used).toContain("sessionManager");
});

test("a Pi that takes nothing of what is registered is told of on stderr, and starts", async () => {
  const said = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const refusing = new Proxy({} as PiApi, {
    get: (_target, name) => () => {
      throw new Error(`${String(name)} is not there`);
    },
  });
  try {
    // It answers as a promise of its own, also when the factory throws at once.
    await expect(extension(refusing)).resolves.toBeUndefined();
    expect(String(said.mock.calls[0]?.[0])).toMatch(/^holdpoint: .* is not there/);
  } finally {
    said.mockRestore();
  }
});

test("timers and pauses end with it, and what fails because of the end is no trouble", async () => {
  const life = new Life();
  const ran: string[] = [];
  life.after(10, "late", () => ran.push("late"));
  const paused = life.pause(1_000).then(() => ran.push("paused"));
  const failing = life.attempt("slow", async () => {
    await life.pause(1_000);
    throw new Error("the session is over");
  });
  life.end();
  await Promise.all([paused, failing]);
  await vi.advanceTimersByTimeAsync(2_000);
  expect(ran).toEqual(["paused"]);
  expect(life.troubles).toEqual([]);
  expect(life.try("after", () => ran.push("after"))).toBeUndefined();
});

test("only the newest troubles are kept", () => {
  const life = new Life();
  for (let n = 1; n <= 25; n += 1)
    life.try("work", () => {
      throw new Error(`no ${n}`);
    });
  expect(life.troubles).toHaveLength(20);
  expect(life.troubles.at(-1)).toBe("work: no 25");
  life.end();
});
