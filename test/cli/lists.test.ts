// Lists against a server that says what the test tells it to: what people and programs read.
import { describe, expect, test } from "vitest";
import { decisionSummary, runSummary } from "../client/views.ts";
import { always, on, fits } from "./fake.ts";

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
