// `holdpoint run`: what is followed, how it ends, and with which exit code.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import type { RunView } from "../../src/contracts/protocol/operations.ts";
import { type FakeServer } from "../client/fake-server.ts";
import { NOON, decisionSummary, runSummary, runView } from "../client/views.ts";
import { serve, on, fits, item } from "./fake.ts";

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
