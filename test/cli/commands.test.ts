// Commands against a server that says what the test tells it to: what people and programs read, and the exit codes.

import { createHash } from "node:crypto";
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import { displayWidth } from "../../src/cli/layout.ts";
import type { RunView } from "../../src/contracts/protocol/operations.ts";
import { startFakeServer, type FakeServer, type Handler } from "../client/fake-server.ts";
import { NOON, decisionSummary, effectSummary, runSummary, runView, serverStatus } from "../client/views.ts";
import { holdpoint, type Ran, type RunOptions } from "./run-in-process.ts";

const open: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function serve(handle: Handler): Promise<FakeServer> {
  const server = await startFakeServer({ handle });
  open.push(() => server.close());
  return server;
}

/** A server that answers every request with one result. */
function always(result: unknown): Promise<FakeServer> {
  return serve(() => ({ outcome: "accepted", result }));
}

function on(server: FakeServer, args: readonly string[], options?: RunOptions): Promise<Ran> {
  return holdpoint([...args, "--home", server.home], options);
}

function fits(text: string): void {
  for (const line of text.split("\n")) expect(displayWidth(line), line).toBeLessThanOrEqual(80);
}

const item = (index: number, type: string, detail: object): RunView["timeline"][number] => ({
  at: NOON + index * 1_000,
  index,
  type,
  actor: "server",
  detail: detail as never,
});

describe("lists", () => {
  test("runs shows short ids, words for the status and local times with their zone, in 80 columns", async () => {
    const runs = [runSummary(), runSummary({ shortId: "9abc", status: "timed_out", title: "y".repeat(300) })];
    const server = await always({ runs, more: true });
    const { code, out } = await on(server, ["runs"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^7k3f +running +deploy: shop-api 4\.12\.0 +\w{3} \d+ Nov \d\d:\d\d \S+$/m);
    expect(out).toContain("timed out");
    expect(out).toContain("--limit 40");
    fits(out);
  });

  test("an empty list says what to do", async () => {
    expect((await on(await always({ runs: [], more: false }), ["runs"])).out).toContain("holdpoint run");
    expect((await on(await always({ decisions: [] }), ["decisions"])).out).toContain("Nothing waits");
    expect((await on(await always({ effects: [] }), ["effect", "list"])).out).toContain("Nothing needs you");
    expect((await on(await always({ channels: [] }), ["channel", "status"])).out).toContain("config check");
  });

  test("decisions shows fingerprint, choices, deadline, default, destinations and notes", async () => {
    const decision = decisionSummary({ notes: ["The workflow's files changed since."] });
    const { out } = await on(await always({ decisions: [decision] }), ["decisions"]);
    expect(out).toContain("a91c4e  Approve the deployment");
    expect(out).toContain("Approve | Replan… | Stop");
    expect(out).toContain("Without an answer: Stop.");
    expect(out).toContain("telegram:default/1001: shown (1 message)");
    expect(out).toContain("Note: The workflow's files changed since.");
    fits(out);
  });

  test("what comes from outside cannot write to the terminal", async () => {
    const decision = decisionSummary({ title: "\u001b]0;owned\u0007 \u202eevil" });
    const { out } = await on(await always({ decisions: [decision] }), ["decisions"], { terminal: true });
    expect(out).not.toContain("\u001b]");
    expect(out).not.toContain("\u202e");
    expect(out).toContain("␛]0;owned");
  });

  test("--json is one document with the server's result", async () => {
    const result = { runs: [runSummary()], more: false };
    const { out, err } = await on(await always(result), ["runs", "--json"]);
    expect(JSON.parse(out)).toEqual({ schema: "holdpoint.cli.v1", command: "runs", ok: true, result });
    expect(err).toBe("");
  });
});

describe("colour", () => {
  const list = { decisions: [decisionSummary()] };

  test("a terminal gets it, a pipe, NO_COLOR and --plain do not", async () => {
    const server = await always(list);
    expect((await on(server, ["decisions"], { terminal: true })).out).toContain("\u001b[1m");
    expect((await on(server, ["decisions"])).out).not.toContain("\u001b");
    expect((await on(server, ["decisions"], { terminal: true, env: { NO_COLOR: "1" } })).out).not.toContain("\u001b");
    expect((await on(server, ["decisions", "--plain"], { terminal: true })).out).not.toContain("\u001b");
  });
});

describe("show", () => {
  test("tells what ran, what was asked, who answered, what was done outside, and what comes next", async () => {
    const view = runView(
      { status: "completed", finishedAt: NOON + 60_000, currentNode: null },
      {
        finalOutput: { live: "4.12.0" },
        timeline: [
          item(0, "runner.launched", { command: "start", generation: 1 }),
          item(1, "node.finished", { nodeId: "plan", outcome: "ok" }),
          item(2, "decision.requested", {
            title: "Approve the deployment",
            fingerprint: "a91c4e",
            audience: "operators",
          }),
          item(3, "run.finished", { status: "completed" }),
        ],
        decisions: [
          decisionSummary({
            status: "accepted",
            resolution: {
              outcome: "accepted",
              provenance: "human",
              choice: "approve",
              label: "Approve",
              input: null,
              by: "Ann",
              channel: "telegram:default",
              assurance: "remote",
              resolvedAt: NOON + 30_000,
              graceAfterOutage: false,
            },
          }),
        ],
        effects: [
          effectSummary(),
          effectSummary({ shortId: "e-000001", purpose: "delivery", destination: "telegram:default/1001" }),
        ],
      },
    );
    const { out } = await on(await always(view), ["show", "7k3f"]);
    expect(out).toContain("deploy · shop-api 4.12.0  run 7k3f");
    expect(out).toContain("took 1 min");
    expect(out).not.toContain("generation");
    expect(out).toContain("plan done");
    expect(out).toMatch(/Approve by Ann, .* over\s+telegram:default \(remote\)/);
    expect(out).toContain("e-9f31c2  deploy: done, confirmed (1 attempt)");
    expect(out).toContain("1 message of the service: done, confirmed");
    expect(out).toContain('{"live":"4.12.0"}');
    expect(out).toContain("Nothing: the run is over.");
    fits(out);
  });

  test("doubt is named, with the command that settles it", async () => {
    const settleWith = "holdpoint effect settle e-9f31c2 applied|notApplied|retry";
    const effect = effectSummary({ status: "ambiguous", settledAt: null, settleWith });
    const { out } = await on(await always(runView({ status: "ambiguous" }, { effects: [effect] })), ["show", "7k3f"]);
    expect(out).toContain("needs a person");
    expect(out).toContain("not known whether it happened");
    expect(out).toContain(settleWith);
  });
});

describe("run", () => {
  const ack = { runId: runSummary().runId, shortId: "7k3f", status: "queued", revision: 1 };

  /** A server that starts a run and then shows these views, one after another. */
  function playing(views: readonly RunView[]): Promise<FakeServer> {
    return serve((request, port) => {
      if (request.operation === "run.start") return { outcome: "accepted", result: ack };
      port.send({
        type: "response",
        requestId: request.requestId,
        outcome: "accepted",
        result: { subscriptionId: "s" },
      });
      for (const payload of views) port.send({ type: "event", subscriptionId: "s", event: "run", payload });
      return undefined;
    });
  }

  async function workflow(server: FakeServer): Promise<string> {
    const path = join(server.home, "deploy.workflow.ts");
    writeFileSync(path, "export default null;");
    return path;
  }

  test("prints each step once, says where the decision went, and ends with the run", async () => {
    const first = [item(1, "node.finished", { nodeId: "plan", outcome: "ok" })];
    const asked = [
      ...first,
      item(2, "decision.requested", { title: "Approve", fingerprint: "a91c4e", audience: "operators" }),
    ];
    const unsent = decisionSummary({
      destinations: [{ destination: "telegram:default/1001", effectId: "e", status: "pending", shown: 0 }],
    });
    const server = await playing([
      runView({}, { timeline: first }),
      runView({ status: "waiting" }, { timeline: asked, decisions: [unsent] }),
      runView({ status: "waiting" }, { timeline: asked, decisions: [decisionSummary()] }),
      runView({ status: "completed", finishedAt: NOON + 5_000 }, { timeline: asked, finalOutput: "live" }),
    ]);
    const { code, out } = await on(server, ["run", await workflow(server), "--input", '{"service":"shop-api"}']);
    expect(code).toBe(0);
    expect(out.match(/plan done/g)).toHaveLength(1);
    expect(out).toContain("a91c4e at telegram:default/1001: waiting to be sent");
    expect(out).toContain("a91c4e at telegram:default/1001: shown (1 message)");
    expect(out).toContain("Completed after 5.0 s.");
    expect(out).toContain("holdpoint show 7k3f");
    expect(server.requests[0]?.payload).toMatchObject({ workflow: "deploy", input: { service: "shop-api" } });
    fits(out);
  });

  test.each([
    ["failed", EXIT.runFailed.code],
    ["timed_out", EXIT.runTimedOut.code],
    ["cancelled", EXIT.runCancelled.code],
  ] as const)("a run that %s gives exit code %i", async (status, code) => {
    const server = await playing([runView({ status, finishedAt: NOON + 1_000 })]);
    expect((await on(server, ["run", await workflow(server)])).code).toBe(code);
  });

  test("the times of its lines never run backwards", async () => {
    const timeline = [
      item(30, "decision.requested", { title: "Approve", fingerprint: "a91c4e", audience: "operators" }),
    ];
    const later = [...timeline, item(40, "run.finished", { status: "completed" })];
    const server = await playing([
      runView({ status: "waiting", updatedAt: NOON + 90_000 }, { timeline, decisions: [decisionSummary()] }),
      runView({ status: "completed", finishedAt: NOON + 40_000 }, { timeline: later }),
    ]);
    const { out } = await on(server, ["run", await workflow(server)]);
    const times = out.match(/^\d\d:\d\d:\d\d/gm) ?? [];
    expect(times.length).toBeGreaterThanOrEqual(4);
    expect(times).toEqual(times.toSorted());
  });

  test("a very long error is cut, and the command that shows all of it is named", async () => {
    const error = { code: "HP404", kind: "nodeFailed", message: `first ${"x".repeat(5_000)}`, remedy: "See it." };
    const timeline = [
      item(1, "node.finished", { nodeId: "plan", outcome: "failed", error }),
      item(2, "run.finished", { status: "failed", error }),
    ];
    const server = await playing([runView({ status: "failed", finishedAt: NOON + 5_000 }, { timeline, error })]);
    const { code, out } = await on(server, ["run", await workflow(server)]);
    expect(code).toBe(EXIT.runFailed.code);
    expect(out.length).toBeLessThan(2_500);
    expect(out).toContain("The whole message: holdpoint show 7k3f");
    fits(out);
  });

  test("a run whose workflow cannot be loaded gives the code for workflows", async () => {
    const error = { code: "HP302", kind: "workflowLoad", message: "It throws.", remedy: "Correct it." };
    const server = await playing([runView({ status: "failed", finishedAt: NOON + 1_000 }, { error })]);
    expect((await on(server, ["run", await workflow(server)])).code).toBe(EXIT.workflow.code);
  });

  test("a run that only a person can move ends the following with its command", async () => {
    const server = await playing([
      runView({ status: "ambiguous" }, { nextStep: "holdpoint effect settle e-9f31c2 retry" }),
    ]);
    const { code, out } = await on(server, ["run", await workflow(server)]);
    expect(code).toBe(EXIT.needsPerson.code);
    expect(out).toContain("holdpoint effect settle e-9f31c2 retry");
  });

  test("Ctrl-C detaches and says how to look again", async () => {
    const timeline = [item(1, "node.finished", { nodeId: "plan", outcome: "ok" })];
    const server = await playing([runView({}, { timeline })]);
    const { code, out } = await on(server, ["run", await workflow(server)], {
      onOut: (text, signal) => text.endsWith("plan done\n") && signal("SIGINT"),
    });
    expect(code).toBe(EXIT.interrupted.code);
    expect(out).toContain("Detached; the run goes on. Look again: holdpoint show 7k3f");
  });

  test("--detach does not follow", async () => {
    const server = await playing([]);
    const { code, out } = await on(server, ["run", await workflow(server), "--detach", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ ok: true, result: ack });
    expect(server.requests.map((request) => request.operation)).toEqual(["run.start"]);
  });

  test("the input can come from a file or from standard input", async () => {
    const server = await playing([]);
    const file = join(server.home, "input.json");
    writeFileSync(file, '{"from":"file"}');
    const path = await workflow(server);
    await on(server, ["run", path, "--detach", "--input", `@${file}`]);
    await on(server, ["run", path, "--detach", "--input", "-"], { stdin: '{"from":"stdin"}' });
    const inputs = server.requests.map((request) => (request.payload as { input: unknown }).input);
    expect(inputs).toEqual([{ from: "file" }, { from: "stdin" }]);
  });

  test("an input over the limit is refused before anything is sent, with limit and size", async () => {
    const server = await playing([]);
    const { code, err } = await on(server, ["run", await workflow(server), "--input", "-"], {
      stdin: JSON.stringify("x".repeat(900_001)),
    });
    expect(code).toBe(EXIT.workflow.code);
    expect(err.replace(/\s+/g, " ")).toMatch(/has \d+ bytes; the limit is 900000\. \(HP405\)/);
    expect(server.requests).toEqual([]);
  });
});

describe("settling", () => {
  test("effect settle passes the outcome and the result", async () => {
    const server = await always(effectSummary());
    const { out } = await on(server, ["effect", "settle", "e-9f31c2", "applied", "--result", '{"id":1}']);
    expect(server.requests[0]).toMatchObject({
      operation: "effect.settle",
      payload: { effect: "e-9f31c2", outcome: "applied", result: { id: 1 } },
      idempotencyKey: expect.any(String),
    });
    expect(out).toContain("done, confirmed");
  });

  test("channel recover passes part and reference", async () => {
    const server = await always(effectSummary({ purpose: "delivery" }));
    await on(server, ["channel", "recover", "e-9f31c2", "confirm", "--part", "2", "--reference", "815"]);
    expect(server.requests[0]?.payload).toEqual({ effect: "e-9f31c2", action: "confirm", part: 2, reference: "815" });
  });

  test("cancel passes the reason", async () => {
    const server = await always({ runId: "r", shortId: "7k3f", status: "cancelled", revision: 9 });
    const { out } = await on(server, ["cancel", "7k3f", "--reason", "not today"]);
    expect(server.requests[0]?.payload).toEqual({ run: "7k3f", reason: "not today" });
    expect(out).toContain("Run 7k3f is cancelled");
  });

  test("the server's error is shown with why, what to do, code, and the right exit code", async () => {
    const error = { code: "HP406", kind: "runNotFound", message: 'No run fits "zz".', remedy: "List the runs." };
    const server = await serve(() => ({ outcome: "notFound", error }));
    const { code, err } = await on(server, ["pause", "zz"]);
    expect(code).toBe(EXIT.notFound.code);
    expect(err).toBe('No run fits "zz". (HP406)\nTo do: List the runs.\n');
  });
});

describe("server", () => {
  test("status tells pid, runs, waiting decisions, channels with their last error, and what died", async () => {
    const error = {
      code: "HP203",
      kind: "tokenFile",
      message: "The token file is readable by others.",
      remedy: "chmod 600",
    };
    const status = serverStatus({
      channels: [
        {
          channel: "telegram:default",
          state: "down",
          pid: null,
          account: null,
          lastPollAt: null,
          pendingUpdates: null,
          queued: 2,
          ambiguous: 1,
          ambiguousSince: NOON,
          deafSince: NOON,
          restarts: 3,
          error,
        },
      ],
      crashes: [{ kind: "runner", at: NOON, outcome: "SIGKILL", diagnostic: "line one\nout of memory\n" }],
    });
    const { code, out } = await on(await always(status), ["server", "status"]);
    expect(code).toBe(0);
    for (const words of [
      "pid 4242",
      "1 running, 2 waiting",
      "2 decisions",
      "telegram:default: down",
      "HP203",
      "chmod 600",
      "restarted 3 times",
      "out of memory",
    ]) {
      expect(out).toContain(words);
    }
    fits(out);
  });

  test("reload has the configuration read again", async () => {
    const server = await always({ loaded: true, error: null });
    const { code, out } = await on(server, ["server", "reload"]);
    expect(code).toBe(0);
    expect(out).toContain("read again");
    expect(server.requests.map((request) => request.operation)).toEqual(["server.reload"]);
  });

  test("a configuration that reload refuses is an error that says what stays in use", async () => {
    const error = { code: "HP201", kind: "configInvalid", message: "people: wrong.", remedy: "Correct it." };
    const { code, err } = await on(await always({ loaded: false, error }), ["server", "reload"]);
    expect(code).toBe(EXIT.config.code);
    expect(err).toBe("The last good configuration stays in use. people: wrong. (HP201)\nTo do: Correct it.\n");
  });

  test("a server that is silent is not called absent", async () => {
    const server = await startFakeServer({ handle: () => undefined, hello: null });
    open.push(() => server.close());
    writeFileSync(join(server.home, "server.json"), JSON.stringify({ pid: process.pid }));
    const { code, out, err } = await on(server, ["server", "status"]);
    expect(code).toBe(EXIT.unavailable.code);
    expect(out).toBe("");
    expect(err.replace(/\s+/g, " ")).toContain(`pid ${process.pid} holds ${server.home} but does not answer`);
  });

  test("status, reload and stop never start a server", async () => {
    const server = await always({});
    await server.down();
    const status = await on(server, ["server", "status", "--json"]);
    expect(status.code).toBe(EXIT.unavailable.code);
    expect(JSON.parse(status.out)).toMatchObject({ ok: true, result: { running: false, home: server.home } });
    expect((await on(server, ["server", "reload"])).code).toBe(EXIT.unavailable.code);
    const stop = await on(server, ["server", "stop"]);
    expect(stop.code).toBe(0);
    expect(stop.out).toContain("No server runs");
  });

  test("--no-start leaves a missing server missing", async () => {
    const server = await always({});
    await server.down();
    const { code, err } = await on(server, ["runs", "--no-start"]);
    expect(code).toBe(EXIT.unavailable.code);
    expect(err).toContain("(HP802)");
  });
});

describe("config check", () => {
  async function home(config: (dir: string) => unknown): Promise<FakeServer> {
    const server = await always({});
    writeFileSync(join(server.home, "token"), "123:abc\n", { mode: 0o600 });
    writeFileSync(join(server.home, "config.json"), JSON.stringify(config(server.home)));
    return server;
  }
  const valid = (dir: string, tokenFile = join(dir, "token")): Record<string, unknown> => ({
    schema: "holdpoint.config.v1",
    people: { ann: { name: "Ann", telegram: ["1001"] } },
    audiences: { operators: { destinations: ["telegram:default/1001"], people: ["ann"] } },
    telegramProfiles: { default: { tokenFile, allowedUserIds: ["1001"], allowedChatIds: ["1001"] } },
  });

  test("a valid one is counted, without a server", async () => {
    const server = await home(valid);
    const { code, out } = await on(server, ["config", "check"]);
    expect(code).toBe(0);
    expect(out).toContain("1 person, 1 audience, 1 Telegram profile.");
    expect(server.hellos).toEqual([]);
  });

  test("a broken one names the field and exits with the code for configuration", async () => {
    const server = await home((dir) => ({ ...valid(dir), audiences: { operators: { destinations: [] } } }));
    const { code, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toMatch(/audiences\.operators\.destinations.*\(HP201\)/);
  });

  test("a token file that others can read is refused, and its content is never shown", async () => {
    const server = await home(valid);
    chmodSync(join(server.home, "token"), 0o644);
    const { code, out, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toContain("has mode 644; others can use it");
    expect(out + err).not.toContain("123:abc");
  });

  test("a token file that is a link is refused", async () => {
    const server = await home((dir) => valid(dir, join(dir, "link")));
    symlinkSync(join(server.home, "token"), join(server.home, "link"));
    expect((await on(server, ["config", "check"])).err.replace(/\s+/g, " ")).toContain("is a symbolic link");
  });

  test.each([
    ["is empty", "\n", "Put the token into the file, on one line."],
    ["holds more than one plain token", "123:abc\n456:def\n", "Put only the token into the file, on one line."],
    ["holds more than one plain token", "123: abc\n", "Put only the token into the file, on one line."],
  ])("a token file that %s is refused with its own remedy", async (what, content, remedy) => {
    const server = await home(valid);
    writeFileSync(join(server.home, "token"), content);
    const { code, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toContain(`${what}. (HP203)`);
    expect(err.replace(/\s+/g, " ")).toContain(`To do: ${remedy}`);
    expect(err).not.toContain("abc");
  });

  const profile = (dir: string): object => ({
    tokenFile: join(dir, "token"),
    allowedUserIds: ["1001"],
    allowedChatIds: ["1001"],
  });

  test("an apiRoot that is not http or https is refused", async () => {
    const server = await home((dir) => ({
      ...valid(dir),
      telegramProfiles: { default: { ...profile(dir), apiRoot: "file:///etc/passwd" } },
    }));
    const { code, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toContain("apiRoot: must be an http or https URL");
  });

  test("two profiles with one token file are refused, however the path is written", async () => {
    const server = await home((dir) => ({
      ...valid(dir),
      telegramProfiles: { default: profile(dir), other: { ...profile(dir), tokenFile: `${dir}/./token` } },
    }));
    const { code, err } = await on(server, ["config", "check"]);
    expect(code).toBe(EXIT.config.code);
    expect(err.replace(/\s+/g, " ")).toContain('is already the token file of "default"');
  });

  test("a person who could never answer is pointed out", async () => {
    const server = await home((dir) => ({ ...valid(dir), people: { ann: { name: "Ann", telegram: [] } } }));
    const { code, out } = await on(server, ["config", "check"]);
    expect(code).toBe(0);
    expect(out.replace(/\s+/g, " ")).toContain("ann of audience operators has no Telegram id");
  });

  test("the example in the repository has the right form", async () => {
    const { code, err } = await holdpoint(["config", "check", "config.example.json"]);
    expect(code).toBe(EXIT.config.code);
    expect(err).toContain("(HP203)");
  });
});

describe("control of a run", () => {
  const ack = { runId: runSummary().runId, shortId: "7k3f", status: "running", revision: 9 };

  /** A server that remembers what it was asked. */
  async function recording(result: unknown): Promise<{ server: FakeServer; asked: Record<string, unknown>[] }> {
    const asked: Record<string, unknown>[] = [];
    const server = await serve((request) => {
      asked.push({ operation: request.operation, payload: request.payload, revision: request.expectedRevision });
      return { outcome: "accepted", result };
    });
    return { server, asked };
  }

  test("answer takes JSON as JSON and everything else as text, unless it is said to be text", async () => {
    const { asked, server } = await recording(ack);
    for (const args of [['{"ok":true}'], ["looks good"], ["42"], ["42", "--text"]]) {
      expect((await on(server, ["answer", "c-9f31c2", ...args])).code).toBe(0);
    }
    expect(asked.map(({ payload }) => (payload as { answer: unknown }).answer)).toEqual([
      { ok: true },
      "looks good",
      42,
      "42",
    ]);
    expect(asked[0]).toMatchObject({ operation: "checkpoint.answer", payload: { request: "c-9f31c2" } });
  });

  test("commands expect the revision that is named, and refuse a wrong one before they ask", async () => {
    const { asked, server } = await recording(ack);
    expect((await on(server, ["restart", "7k3f", "--revision", "8", "--reason", "again"])).out).toContain("restart");
    expect(asked).toEqual([{ operation: "run.restart", payload: { run: "7k3f", reason: "again" }, revision: 8 }]);
    expect((await on(server, ["pause", "7k3f", "--revision", "x"])).code).toBe(EXIT.usage.code);
    expect(asked).toHaveLength(1);
  });

  test("settings are shown with what may be changed, and changed by patch", async () => {
    const scope = {
      scopeId: "r:$root:1",
      mount: "",
      invocation: 1,
      changeNumber: 2,
      hash: "sha256:x",
      description: "How far to go",
      value: { max: 2 },
      changeable: ["/max"],
    };
    const shown = await on(await always({ runId: ack.runId, revision: 9, scopes: [scope] }), ["settings", "7k3f"]);
    expect(shown.out).toContain("The run, version 2");
    expect(shown.out).toContain('{"max":2}');
    expect(shown.out).toContain("May be changed: /max");
    const { asked, server } = await recording({ runId: ack.runId, scopeId: "s", changeNumber: 3, hash: "h" });
    const patch = '[{"op":"replace","path":"/max","value":3}]';
    const changed = await on(server, ["change-settings", "7k3f", patch, "--expect", "2", "--mount", "sub"]);
    expect(changed.out).toContain("version 3");
    expect(asked[0]).toMatchObject({
      operation: "run.changeSettings",
      payload: { run: "7k3f", mount: "sub", patch: JSON.parse(patch) as unknown, expectedChangeNumber: 2 },
    });
  });

  test("follow-ups are queued and removed", async () => {
    const { asked, server } = await recording({ runId: "r", followUpId: "f", orderNumber: 1, status: "queued" });
    expect((await on(server, ["queue-follow-up", "7k3f", "/summarize"])).out).toContain("Follow-up 1 is queued");
    await on(server, ["remove-follow-up", "7k3f", "1"]);
    expect(asked.map(({ operation, payload }) => [operation, payload])).toEqual([
      ["followUp.queue", { run: "7k3f", prompt: "/summarize" }],
      ["followUp.remove", { run: "7k3f", followUp: "1" }],
    ]);
  });

  test("updates shows progress with its estimate and the rest by kind", async () => {
    const progress = {
      key: "copy",
      label: "Copying",
      status: "running",
      phase: "disk 2",
      completed: 40,
      total: 100,
      unit: "files",
      at: NOON,
      estimate: {
        kind: "estimate",
        by: "measured",
        remainingMs: { low: 60_000, median: 180_000, high: 300_000 },
        confidence: "medium",
      },
    };
    const update = {
      seq: 3,
      updateId: "u",
      type: "note",
      key: "a",
      nodeId: "work",
      data: { text: "\u001b]0;x" },
      at: NOON,
    };
    const result = { runId: "r", updates: [update], progress: [progress], published: 4, more: false };
    const { out } = await on(await always(result), ["updates", "7k3f"]);
    expect(out.replace(/\n\s*/g, " ")).toContain(
      "Copying: 40 of 100 files (disk 2), running, about 3 min left (1 min to 5 min, medium confidence)",
    );
    expect(out).toContain("work note a:");
    expect(out).not.toContain("\u001b]");
    fits(out);
  });

  test("output puts the parts of a value together and verifies them", async () => {
    const text = JSON.stringify({ data: "x".repeat(1_000) });
    const sha256 = createHash("sha256").update(text).digest("hex");
    const part = (offset: number): object => ({
      sha256,
      bytes: text.length,
      offset,
      data: Buffer.from(text.slice(offset, offset + 600)).toString("base64"),
    });
    const server = await serve(({ payload }) => ({
      outcome: "accepted",
      result: part((payload as { offset: number }).offset),
    }));
    expect((await on(server, ["output", "7k3f", "plan"])).out.trim()).toBe(text);
    const wrong = await serve(() => ({ outcome: "accepted", result: { ...part(600), bytes: 5 } }));
    expect((await on(wrong, ["output", "7k3f"])).code).not.toBe(0);
  });

  test("show tells checkpoints, progress, follow-ups and where a restart comes from", async () => {
    const view = runView(
      { status: "waiting", reason: "waits for the answer to checkpoint c-9f31c2: Look" },
      {
        checkpoints: [
          {
            requestId: "checkpoint-1",
            shortId: "c-9f31c2",
            nodeId: "look",
            visit: 1,
            summary: "Look at the plan",
            content: { files: 3 },
            status: "pending",
            answer: null,
            settledBy: null,
            createdAt: NOON,
            settledAt: null,
          },
        ],
        followUps: [
          {
            followUpId: "f",
            orderNumber: 1,
            status: "queued",
            source: "human:uid:1",
            prompt: "/sum it up",
            reason: null,
            createdAt: NOON,
          },
        ],
        lineage: { restartOf: "20261129T120000Z-deploy-aaaa1111", restartNumber: 1, restartedAs: null },
        nextStep: "holdpoint answer c-9f31c2 <json|text>",
      },
    );
    const { out } = await on(await always(view), ["show", "7k3f"]);
    expect(out).toContain("Restart 1 of 20261129T120000Z-deploy-aaaa1111");
    expect(out).toContain("c-9f31c2  Look at the plan");
    expect(out).toContain('{"files":3}');
    expect(out).toContain("1  queued: /sum it up");
    expect(out).toContain("holdpoint answer c-9f31c2 <json|text>");
    fits(out);
  });
});
