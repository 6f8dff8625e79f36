// Commands of nodes: what comes of them, that they wait for their registration, and that nothing of them is left.
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { CommandResult, CommandSpec } from "../../src/contracts/command.ts";
import { HoldpointError } from "../../src/contracts/errors.ts";
import { SHELL } from "../../src/contracts/limits.ts";
import { startIdentity } from "../../src/contracts/process-identity.ts";
import { membersOf } from "../../src/contracts/process-tree.ts";
import { runCommand, type Registrar } from "../../src/runner/shell/index.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "shell-")));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

class Registry implements Registrar {
  readonly registered: { pid: number; identity: string }[] = [];
  readonly ended: string[] = [];
  before: () => Promise<void> | void = () => undefined;

  async register(pid: number, identity: string): Promise<string> {
    this.registered.push({ pid, identity });
    await this.before();
    return `p-${pid}`;
  }

  unregister(_id: string, outcome: string): Promise<void> {
    this.ended.push(outcome);
    return Promise.resolve();
  }
}

let registry: Registry;
beforeEach(() => {
  registry = new Registry();
});

const spec = (script: string, more: Partial<CommandSpec> = {}): CommandSpec => ({
  command: "sh",
  args: ["-c", script],
  cwd: folder,
  timeoutMs: null,
  maxOutputChars: SHELL.outputChars,
  ...more,
});
const run = (given: CommandSpec, signal = new AbortController().signal): Promise<CommandResult> =>
  runCommand(given, registry, signal);

/** Waits for a file that a command writes. */
async function appears(name: string): Promise<void> {
  while (!existsSync(join(folder, name))) await new Promise((resolve) => setTimeout(resolve, 5));
}

const alive = (): number[] =>
  registry.registered.flatMap(({ identity, pid }) => membersOf({ pid, startIdentity: identity }));

describe("what comes of a command", () => {
  it("its output, exit code, input, environment and folder", async () => {
    const script = 'read line; echo "$line $EXTRA $(pwd)"; echo wrong >&2; exit 3';
    const result = await run(spec(script, { stdin: "given\n", env: { EXTRA: "more" } }));
    expect(result).toMatchObject({
      exitCode: 3,
      signal: null,
      stdout: `given more ${folder}\n`,
      stderr: "wrong\n",
      truncated: [],
      timedOut: false,
    });
    expect(result.startError).toBeUndefined();
    expect(registry.ended).toEqual(["code 3"]);
  });

  it("arguments as they are, whatever a shell would make of them", async () => {
    const args = ["$HOME", "a b", "'", "-n", "*", "ü\n"];
    const result = await run(
      spec("", { command: process.execPath, args: ["-p", "JSON.stringify(process.argv.slice(1))", "--", ...args] }),
    );
    expect(JSON.parse(result.stdout)).toEqual(args);
  });

  it("the signal that ended it", async () => {
    expect(await run(spec("kill -9 $$"))).toMatchObject({ exitCode: null, signal: "SIGKILL" });
  });

  it.each<[string, Partial<CommandSpec>, RegExp]>([
    ["is not there", { command: "no-such-program" }, /not found in PATH/],
    ["is no program", { command: "./plain" }, /not executable/],
    ["has a folder that does not exist", { cwd: "/no/such/folder" }, /working folder .* does not exist/],
    ["has more arguments than a process can have", { args: ["x".repeat(4_000_000)] }, /E2BIG/],
  ])("that it could not be started: one that %s", async (_what, more, message) => {
    writeFileSync(join(folder, "plain"), "text");
    const result = await run(spec("exit 0", more));
    expect(result).toMatchObject({ exitCode: null, signal: null, stdout: "" });
    expect(result.startError).toMatch(message);
    expect(alive()).toEqual([]);
  });

  it("at most so many characters, with a marker that tells how many were dropped, and no half of one", async () => {
    const result = await run(spec(`printf '123456789\\360\\237\\230\\200tail'; echo all >&2`, { maxOutputChars: 10 }));
    expect(result.stdout).toBe("123456789\n[… 6 more characters were dropped]");
    expect([result.stderr, result.truncated]).toEqual(["all\n", ["stdout"]]);
  });

  it("its lines while it runs, of the streams asked for, cut at the limit", async () => {
    const lines: string[] = [];
    const listeners = { streams: ["stdout"] as const, onLine: (line: string) => lines.push(line) };
    const script = `printf 'one\\r\\ntw'; printf 'o\\n'; echo unheard >&2; head -c 70000 /dev/zero | tr '\\0' x; echo; printf last`;
    await runCommand(spec(script), registry, new AbortController().signal, listeners);
    expect(lines.map((line) => (line.length > 100 ? line.length : line))).toEqual([
      "one",
      "two",
      SHELL.lineBytes,
      "last",
    ]);
  });
});

describe("the go byte", () => {
  it("comes after the registration: before it nothing of the command has run", async () => {
    let seen: boolean | undefined;
    registry.before = async () => {
      // Long enough for a command that did not wait.
      await new Promise((resolve) => setTimeout(resolve, 100));
      seen = existsSync(join(folder, "ran"));
    };
    await run(spec("touch ran"));
    expect([seen, existsSync(join(folder, "ran"))]).toEqual([false, true]);
    const [{ identity, pid } = { identity: "", pid: 0 }] = registry.registered;
    expect(identity).toMatch(/^(linux-proc-start|ps-lstart):/);
    expect(startIdentity(pid)).toBeNull();
  });

  it("never comes when the registration is refused: the error is passed on and the process is gone", async () => {
    registry.before = () => Promise.reject(new HoldpointError("protocolRejected", "not now"));
    await expect(run(spec("touch ran"))).rejects.toThrow("not now");
    expect([existsSync(join(folder, "ran")), alive()]).toEqual([false, []]);
  });
});

describe("nothing of a command is left when its result is known", () => {
  it("what it started in the background ends with it", async () => {
    const result = await run(spec("(trap '' HUP; sleep 60) & echo started"));
    expect(result).toMatchObject({ exitCode: 0, stdout: "started\n" });
    expect(alive()).toEqual([]);
  });

  it.runIf(process.platform === "linux")(
    "what left its group in the background ends with it, other commands' does not",
    async () => {
      const leave = (name: string): CommandSpec =>
        spec(
          `setsid sh -c 'echo $$ > ${name}; exec sleep 300' >/dev/null 2>&1 & while [ ! -s ${name} ]; do sleep 0.01; done`,
        );
      const of = (name: string): number => Number(readFileSync(join(folder, name), "utf8"));
      const marked = (mark: string): Registrar => ({
        mark,
        register: () => Promise.resolve("p"),
        unregister: () => Promise.resolve(),
      });
      const left = (mark: string): number[] => membersOf({ pid: null, startIdentity: null, mark });
      const stopOther = new AbortController();
      const other = runCommand(spec(`${leave("other").args[1]}; sleep 300`), marked("run/node/1/2"), stopOther.signal);
      await appears("other");
      await runCommand(leave("one"), marked("run/node/1/1"), new AbortController().signal);
      expect(left("run/node/1/1")).toEqual([]);
      expect(left("run/node/1/2")).toContain(of("other"));
      stopOther.abort();
      await other;
      expect(left("run/node/1/2")).toEqual([]);
    },
  );

  it("after its time it is told to end, and gets a grace for tidying up", async () => {
    const result = await run(
      spec("trap 'echo tidied > tidied; exit 7' TERM; while :; do sleep 0.05; done", { timeoutMs: 200 }),
    );
    expect(result).toMatchObject({ timedOut: true, exitCode: 7 });
    expect(readFileSync(join(folder, "tidied"), "utf8")).toBe("tidied\n");
  });

  it("one that does not listen is killed after the grace, its children with it", async () => {
    const result = await run(spec("trap '' TERM; (trap '' TERM; sleep 60) & sleep 60", { timeoutMs: 100 }));
    expect(result).toMatchObject({ timedOut: true, exitCode: null, signal: "SIGKILL" });
    expect(result.durationMs).toBeGreaterThanOrEqual(SHELL.killGraceMs);
    expect(alive()).toEqual([]);
  });

  it("an abort ends it", async () => {
    const controller = new AbortController();
    const running = run(spec("touch ran; sleep 60 & wait"), controller.signal);
    await appears("ran");
    controller.abort();
    await running;
    expect(alive()).toEqual([]);
    expect(registry.ended).toHaveLength(1);
  });
});
