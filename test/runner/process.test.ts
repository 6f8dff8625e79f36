// The runner as the server starts it: a process of its own with its pipe on descriptor 3.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import type { Duplex } from "node:stream";
import { join, resolve } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fromRunnerSchema, type FromRunner, type ToRunner } from "../../src/contracts/protocol/runner.ts";
import { membersOf } from "../../src/contracts/process-tree.ts";
import { framePort } from "../../src/contracts/wire/frames.ts";
import { buildChildren, type Built } from "../adapters/built.ts";
import { FakeServer } from "./fake-server.ts";
import { makeFolder, oneNode, type Folder } from "./folder.ts";

let built: Built;
let folder: Folder;
const children: ChildProcess[] = [];
beforeAll(() => {
  built = buildChildren(["src/runner/main.ts", "src/runner/serve.ts"]);
});
afterAll(() => built.remove());
beforeEach(() => {
  folder = makeFolder();
});
afterEach(() => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  folder.remove();
});

interface Runner {
  readonly server: FakeServer;
  readonly child: ChildProcess;
  readonly exit: Promise<number | null>;
  close(): void;
  stderr(): string;
}

function startRunner(): Runner {
  const child = spawn(process.execPath, [built.path("src/runner/main.ts")], {
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  children.push(child);
  let stderr = "";
  child.stderr?.on("data", (chunk: Buffer) => (stderr += chunk.toString()));
  const port = framePort<FromRunner, ToRunner>(child.stdio[3] as Duplex, fromRunnerSchema);
  const server = new FakeServer(port);
  port.onFrame((frame) => server.take(frame));
  const exit = once(child, "close").then(([code]) => code as number | null);
  return { server, child, exit, close: () => port.close(), stderr: () => stderr };
}

const example = resolve(import.meta.dirname, "../../docs/examples/deploy.workflow.ts");

describe("a runner process", () => {
  it("runs the example to its decision, and another one goes on with the answer and deploys once", async () => {
    const input = { version: "5.0.0", logFile: "deployments.log" };
    const launch = folder.launch("", { workflowPath: example, input });
    const first = startRunner();
    first.server.startAt = "plan";
    first.server.send(launch);
    const asked = await first.server.until("decision");
    expect(asked.request).toMatchObject({
      audience: "operators",
      title: "Approve the deployment",
      presentation: { summary: "shop-api 5.0.0 to production" },
      onTimeout: { afterMs: 7_200_000, response: { choice: "stop" } },
    });
    await first.server.until("released");
    const ready = await first.server.until("ready");
    expect(ready).toMatchObject({ title: "Deploy shop-api 5.0.0", sources: [{ path: example }], input });

    const second = startRunner();
    const plan = first.server.all("advance")[0]?.entries[0]?.output;
    second.server.respond = (frame) => {
      if (frame.type !== "ready") return second.server.playAlong(frame);
      return [
        {
          type: "state.results",
          items: [
            { nodeId: "plan", outcome: "ok", output: plan ?? null },
            { nodeId: "approve", outcome: "ok", output: { choice: "approve" } },
          ],
        },
        {
          type: "state.steps",
          first: 0,
          steps: [
            ["plan", "ok"],
            ["approve", "ok"],
          ],
        },
        {
          type: "go",
          position: { nodeId: "deploy", step: 2, visit: 1, interrupted: false },
          visits: { plan: 1, approve: 1, deploy: 1 },
        },
      ];
    };
    const { definitionDigest, sources = [] } = ready;
    second.server.send({
      ...launch,
      command: "continue",
      definitionDigest,
      sources,
      input: ready.input ?? null,
      inputParsed: true,
    });
    expect((await second.server.until("finish")).entry).toMatchObject({
      nodeId: "deploy",
      outcome: "ok",
      output: { message: "5.0.0 is live." },
    });
    await second.server.until("released");
    second.close();
    expect(await second.exit).toBe(0);
    expect(second.server.all("effect.reserve")).toMatchObject([
      { nodeId: "deploy", effectType: "deployment", recovery: "idempotent" },
    ]);
    expect(readFileSync(join(folder.path, "deployments.log"), "utf8")).toBe(
      "shop-api 5.0.0 to production [effect-1]\n",
    );
  });

  it("takes the next launch when it is as it was, and loads the workflow's own modules anew", async () => {
    folder.put("state.ts", "export const counter = { value: 0 };");
    folder.put("w.workflow.ts", oneNode("() => ++counter.value", `import { counter } from "./state.ts";`));
    const { child, close, exit, server } = startRunner();
    for (let launch = 1; launch <= 3; launch += 1) {
      server.send(folder.launch("w.workflow.ts", { runnerEpoch: `r-${launch}` }));
      expect((await server.until("finish", launch)).entry).toMatchObject({ outcome: "ok", output: 1 });
      await server.until("released", launch);
    }
    expect(child.exitCode).toBeNull();
    close();
    expect(await exit).toBe(0);
  });

  it.each<[string, string, RegExp]>([
    ["a timer", "setInterval(() => {}, 60_000)", /Timeout/],
    ["a timer that keeps nothing alive", "setInterval(() => {}, 60_000).unref()", /keeps nothing alive/],
    ["a server", `await import("node:net").then((net) => net.createServer().listen(0, "127.0.0.1"))`, /TCP/],
    ["a watcher", `await import("node:fs").then((fs) => fs.watch(".", { persistent: false }))`, /keeps nothing alive/],
    [
      "a child process",
      `await import("node:child_process").then(({ spawn }) => spawn("sleep", ["20"], { stdio: "ignore" }).unref())`,
      /a child process|Process/,
    ],
    [
      "a thread",
      `new (await import("node:worker_threads")).Worker("setInterval(() => {}, 1000)", { eval: true }).unref()`,
      /worker_threads|Worker|MessagePort/,
    ],
    ["another working folder", `process.chdir("/")`, /working folder/],
    ["another environment", `process.env.LEFT_BEHIND = "1"`, /environment/],
    ["a listener", `process.on("SIGHUP", () => {})`, /listeners|Signal/],
    ["a global variable", "globalThis.leftBehind = 1", /global variables/],
  ])("%s left behind ends it in order", async (_what, leave, why) => {
    folder.put("w.workflow.ts", oneNode(`async () => { ${leave}; return 1; }`));
    const { exit, server } = startRunner();
    server.send(folder.launch("w.workflow.ts"));
    expect((await server.until("finish")).entry).toMatchObject({ outcome: "ok" });
    expect((await server.until("exiting")).reason).toMatch(why);
    expect(await exit).toBe(0);
    expect(server.all("released")).toEqual([]);
  });

  it("a rejection that nobody handled ends it, also when the run had finished", async () => {
    folder.put(
      "w.workflow.ts",
      oneNode(`() => { setImmediate(() => setImmediate(() => void Promise.reject(new Error("late")))); return 1; }`),
    );
    const { exit, server, stderr } = startRunner();
    server.send(folder.launch("w.workflow.ts"));
    await server.until("finish");
    expect(await exit).toBe(1);
    expect(stderr()).toContain("late");
    expect(server.all("released")).toEqual([]);
  });

  it("runs a command behind the server's registration, and ends it when the pipe closes", async () => {
    folder.put(
      "w.workflow.ts",
      `import { action, defineWorkflow, manualEffect } from "holdpoint";
       export default defineWorkflow({ name: "w", startAt: "a", nodes: { a: action({
         effect: manualEffect("work"),
         run: ({ runCommand }) => runCommand({ command: "sh", args: ["-c", "touch running; sleep 60"] }),
       }) } });`,
    );
    const { close, exit, server } = startRunner();
    server.respond = (frame) =>
      frame.type === "process.register"
        ? [{ type: "reply", messageId: frame.messageId, ok: true, result: { processId: "p-1" } }]
        : server.playAlong(frame);
    server.send(folder.launch("w.workflow.ts"));
    const { pid, startIdentity } = await server.until("process.register");
    while (!existsSync(join(folder.path, "running"))) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(membersOf({ pid, startIdentity })).not.toEqual([]);
    close();
    expect(await exit).toBe(0);
    expect(membersOf({ pid, startIdentity })).toEqual([]);
  });

  it("takes the next launch after a command that left nothing", async () => {
    folder.put(
      "w.workflow.ts",
      `import { action, defineWorkflow, manualEffect } from "holdpoint";
       export default defineWorkflow({ name: "w", startAt: "a", nodes: { a: action({
         effect: manualEffect("work"),
         run: async ({ runCommand }) => (await runCommand({ command: "echo", args: ["done"] })).stdout,
       }) } });`,
    );
    const { server } = startRunner();
    server.respond = (frame) =>
      frame.type === "process.register"
        ? [{ type: "reply", messageId: frame.messageId, ok: true, result: { processId: "p-1" } }]
        : frame.type === "process.unregister"
          ? [{ type: "reply", messageId: frame.messageId, ok: true }]
          : server.playAlong(frame);
    for (let launch = 1; launch <= 2; launch += 1) {
      server.send(folder.launch("w.workflow.ts", { runnerEpoch: `r-${launch}` }));
      expect((await server.until("finish", launch)).entry).toMatchObject({ outcome: "ok", output: "done\n" });
      await server.until("released", launch);
    }
  });

  it("ends when its pipe closes, whatever it is doing", async () => {
    folder.put(
      "w.workflow.ts",
      oneNode(
        `async () => { await import("node:fs/promises").then((fs) => fs.writeFile("working", "")); setInterval(() => {}, 10); await new Promise(() => {}); }`,
      ),
    );
    const { close, exit, server } = startRunner();
    server.send(folder.launch("w.workflow.ts"));
    await server.until("ready");
    close();
    expect(await exit).toBe(0);
  });

  it("an error that user code leaves behind ends it with code 1 and the stack on stderr", async () => {
    folder.put(
      "w.workflow.ts",
      oneNode(`() => { void Promise.reject(new Error("left behind")); return new Promise(() => {}); }`),
    );
    const { exit, server, stderr } = startRunner();
    server.send(folder.launch("w.workflow.ts"));
    expect(await exit).toBe(1);
    expect(stderr()).toMatch(/unhandled rejection: Error: left behind\n.*w\.workflow\.ts:3/s);
    expect(server.all("finish")).toEqual([]);
    expect(existsSync(join(folder.path, "executed"))).toBe(false);
  });
});
