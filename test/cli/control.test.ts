// Commands that change a run, its settings and its follow-ups, and those that read what it says.
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { type FakeServer } from "../client/fake-server.ts";
import { NOON, runSummary, runView } from "../client/views.ts";
import { serve, always, on, fits } from "./fake.ts";

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
    const broken = await on(server, ["change-settings", "7k3f", "max=3"]);
    expect(broken.err.replace(/\s+/g, " ")).toContain("is not valid JSON");
    expect(broken.err.replace(/\s+/g, " ")).toContain(
      "To do: Give JSON, the name of a file that has it, as @file.json",
    );
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
