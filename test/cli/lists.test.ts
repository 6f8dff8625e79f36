// Lists against a server that says what the test tells it to: what people and programs read.
import { describe, expect, test } from "vitest";
import { NOON, decisionSummary, effectSummary, runSummary, runView } from "../client/views.ts";
import { always, on, fits } from "./fake.ts";

describe("lists", () => {
  test("runs shows short ids, words for the status and local times with their zone, in 80 columns", async () => {
    const runs = [runSummary(), runSummary({ shortId: "9abc", status: "timed_out", title: "y".repeat(300) })];
    const server = await always({ runs, more: true });
    const { code, out } = await on(server, ["runs"]);
    expect(code).toBe(0);
    expect(out).toMatch(/^7k3f +running +deploy: shop-api 4\.12\.0 +\w{3} \d+ Nov (\d{4} )?\d\d:\d\d \S+$/m);
    expect(out).toContain("timed out");
    expect(out).toContain("--limit 40");
    fits(out);
  });

  test("runs and show say when a sleeping run goes on", async () => {
    const asleep = { status: "waiting", reason: "sleeps: The next check" } as const;
    const soon = runSummary({ ...asleep, shortId: "9abc", wakeAt: Date.now() + 60_000 });
    const later = runSummary({ ...asleep, wakeAt: Date.UTC(2199, 11, 1, 12) });
    const { out } = await on(await always({ runs: [soon, later], more: false }), ["runs"]);
    expect(out).toMatch(/^9abc +waiting until \d\d:\d\d +deploy/m);
    expect(out).toMatch(/^7k3f +waiting until \w{3} 1 Dec +deploy/m);
    fits(out);
    const shown = await on(await always(runView(later)), ["show", "7k3f"]);
    expect(shown.out).toMatch(/sleeps: The next check\n +It goes on by itself \w{3} 1 Dec 2199 \d\d:\d\d \S+\.$/m);
  });

  test("an empty list says what to do", async () => {
    expect((await on(await always({ runs: [], more: false }), ["runs"])).out).toContain("holdpoint run");
    expect((await on(await always({ decisions: [] }), ["decisions"])).out).toContain("Nothing waits");
    expect((await on(await always({ effects: [] }), ["effect", "list"])).out).toContain("Nothing needs you");
    expect((await on(await always({ channels: [] }), ["channel", "status"])).out).toContain("config check");
  });

  test("effect list says of which run each effect is, so that two of one workflow are not mistaken", async () => {
    const one = effectSummary({ shortId: "e-111111", runId: "20261130T120000Z-deploy-7k3fa9x2" });
    const other = effectSummary({ shortId: "e-222222", runId: "20261130T120000Z-deploy-9abcd3x2" });
    const { out } = await on(
      await always({ effects: [one, other, effectSummary({ shortId: "e-333333", runId: null })] }),
      ["effect", "list"],
    );
    expect(out).toMatch(/^EFFECT +STATUS +RUN +WHAT/m);
    expect(out).toMatch(/^e-111111 +\w+ +7k3f +\S/m);
    expect(out).toMatch(/^e-222222 +\w+ +9abc +\S/m);
    expect(out).toMatch(/^e-333333 +\w+ +\S/m);
    fits(out);
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

describe("decisions with a policy", () => {
  const usual = decisionSummary().policy;
  const told = async (part: Parameters<typeof decisionSummary>[0]): Promise<string> => {
    const { out } = await on(await always({ decisions: [decisionSummary(part)] }), ["decisions", "--all"]);
    fits(out);
    return out.replaceAll(/\s+/g, " ");
  };

  test("says how many must agree, who has voted, when people are reminded and to whom it is passed on", async () => {
    const out = await told({
      policy: {
        quorum: 2,
        veto: ["Stop"],
        votes: [{ label: "Approve", by: ["Ann"] }],
        everybodyVoted: false,
        channels: ["telegram"],
        assurance: "remote",
        reminders: { sent: 1, atMost: 3, nextAt: NOON + 3_600_000 },
        escalation: { to: "on-call", names: [], dueAt: NOON + 7_200_000, at: null, cause: null },
      },
    });
    expect(out).toContain("2 people must choose the same. Stop by one person decides at once.");
    expect(out).toContain("Votes: Approve 1 of 2 (Ann).");
    expect(out).toContain("Takes answers over telegram only. Takes no answers from this machine.");
    expect(out).toMatch(/Reminders: 1 of 3 sent, the next .+\. Passed on to on-call .+, unless answered before\./);
  });

  test("says to whom it was passed on and why, and when that could not be done", async () => {
    const escalation = { to: "on-call", names: ["Bea"], dueAt: null, at: NOON, cause: "noQuorum" as const };
    const passedOn = await told({ policy: { ...usual, quorum: 2, everybodyVoted: true, escalation } });
    expect(passedOn).toContain("Everybody has voted, and no choice has enough; a vote can still be changed.");
    expect(passedOn).toMatch(/Passed on to on-call \(Bea\), .+: everybody had voted and no choice had enough\./);
    const gone = await told({ policy: { ...usual, escalation: { ...escalation, names: [], at: null, cause: null } } });
    expect(gone).toContain("Could not be passed on to on-call: no such audience is configured.");
  });

  test("tells a time that ran out from an answer and from a cancellation, with a default and without", async () => {
    const nobody = { input: null, by: null, channel: null, assurance: null, resolvedAt: NOON, graceAfterOutage: false };
    const stop = { outcome: "timedOut", provenance: "timeout_policy", choice: "stop", label: "Stop" } as const;
    const none = { outcome: "timedOut", provenance: "expired_no_default", choice: null, label: null } as const;
    expect(await told({ status: "accepted", resolution: { ...stop, ...nobody } })).toContain(
      "No answer in time: Stop was used,",
    );
    const expired = await told({ status: "cancelled", resolution: { ...none, ...nobody } });
    expect(expired).toContain("No answer in time: the decision expired,");
    expect(expired).not.toContain("Cancelled");
  });
});
