/** Every fault that can be set: what the caller sees, and whether the person sees the message. */
import { describe, expect, test } from "vitest";
import { botMessages, requestsOf } from "../../../../adapters/telegram/sim/index.ts";
import type { FaultSpec, Sim } from "../../../../adapters/telegram/sim/index.ts";
import { ANN, call, ok, refusal, smallWorld, TEAM, wire } from "./api.ts";

const hello = { chat_id: ANN, text: "hello" };
const copies = (sim: Sim, chat = ANN) => botMessages(sim.ledger.state(), chat).length;

describe("answers that lie or break", () => {
  const html = expect.stringContaining("<html>");
  const rows: [name: string, fault: FaultSpec, seen: object, visible: number][] = [
    ["429 with a page", { kind: "tooMany", retryAfter: 7, html: true }, { status: 429, text: html }, 0],
    ["reset before", { kind: "drop", when: "before", how: "rst" }, { text: "", error: "ECONNRESET" }, 0],
    ["reset after", { kind: "drop", when: "after", how: "rst" }, { text: "", error: "ECONNRESET" }, 1],
    ["end before", { kind: "drop", when: "before", how: "fin" }, { text: "", error: "ECONNRESET" }, 0],
    ["end after", { kind: "drop", when: "after", how: "fin" }, { text: "", error: "ECONNRESET" }, 1],
    ["half a body before", { kind: "drop", when: "before", how: "half" }, { status: 200, error: "ECONNRESET" }, 0],
    [
      "half a body after",
      { kind: "drop", when: "after", how: "half" },
      { status: 200, error: "ECONNRESET", text: expect.stringMatching(/^\{"ok":true.*[^}]$/u) },
      1,
    ],
    [
      "500 before",
      { kind: "serverError", status: 500, when: "before" },
      { status: 500, text: `{"ok":false,"error_code":500,"description":"Internal Server Error: restart"}` },
      0,
    ],
    [
      "500 after",
      { kind: "serverError", status: 500, when: "after" },
      { status: 500, text: expect.stringContaining("restart") },
      1,
    ],
    [
      "502 page before",
      { kind: "serverError", status: 502, when: "before", body: "html" },
      { status: 502, text: html },
      0,
    ],
    [
      "504 page after",
      { kind: "serverError", status: 504, when: "after", body: "html" },
      { status: 504, text: html },
      1,
    ],
    ["an empty object", { kind: "malformed", body: "empty" }, { status: 200, text: "{}" }, 1],
    ["null", { kind: "malformed", body: "null" }, { status: 200, text: "null" }, 1],
    ["ok without result", { kind: "malformed", body: "okOnly" }, { status: 200, text: `{"ok":true}` }, 1],
    ["a page with 200", { kind: "malformed", body: "html" }, { status: 200, text: html }, 1],
    [
      "JSON without ok, before",
      { kind: "malformed", body: "noOk", when: "before" },
      { status: 200, text: expect.stringContaining("message") },
      0,
    ],
    [
      "unknown fields",
      { kind: "malformed", body: "extra" },
      { status: 200, text: expect.stringMatching(/"ok":true.*field_of_a_newer_version/u) },
      1,
    ],
    [
      "a definite refusal",
      { kind: "reject", status: 403, description: "Forbidden: bot was blocked by the user" },
      { status: 403, text: expect.stringContaining("blocked by the user") },
      0,
    ],
  ];
  test.each(rows)("%s", async (_name, fault, seen, visible) => {
    const sim = await smallWorld({ faults: [{ ...fault, method: "sendMessage" }] });
    await ok(sim, "getMe");
    expect(await wire(sim, "sendMessage", hello)).toMatchObject(seen);
    await sim.ledger.waitFor((state) => requestsOf(state, "sendMessage")[0]?.verdict);
    expect(copies(sim)).toBe(visible);
    expect(requestsOf(sim.ledger.state(), "sendMessage")[0]).toMatchObject({
      fault: "fault-1",
      verdict: { executed: visible === 1 },
    });
    await ok(sim, "sendMessage", hello);
    expect(copies(sim)).toBe(visible + 1);
  });

  test("429 carries retry_after in the header and the body, per chat and method, for the first k calls", async () => {
    const sim = await smallWorld();
    const id = sim.faults.add({ kind: "tooMany", retryAfter: 7, method: "sendmessage", chat: ANN, times: 2 });
    const first = await call(sim, "sendMessage", hello);
    expect(first.headers.get("retry-after")).toBe("7");
    expect(first.body).toEqual({
      ok: false,
      error_code: 429,
      description: "Too Many Requests: retry after 7",
      parameters: { retry_after: 7 },
    });
    await ok(sim, "sendMessage", { ...hello, chat_id: TEAM });
    expect(await refusal(sim, "sendMessage", hello)).toContain("429");
    await ok(sim, "sendMessage", hello);
    expect(sim.faults.list()).toMatchObject([{ id, hits: 2, active: false }]);
  });

  test("skip lets the first calls pass; always goes on until the fault is removed", async () => {
    const sim = await smallWorld();
    const id = sim.faults.add({
      kind: "reject",
      status: 400,
      description: "Bad Request: no",
      skip: 1,
      times: "always",
    });
    await ok(sim, "sendMessage", hello);
    expect(await refusal(sim, "sendMessage", hello)).toBe("400 Bad Request: no");
    expect(await refusal(sim, "sendMessage", hello)).toBe("400 Bad Request: no");
    sim.faults.remove(id);
    await ok(sim, "sendMessage", hello);
    expect(copies(sim)).toBe(2);
  });

  test("slow answer: the person sees the message at once, the caller waits", async () => {
    const sim = await smallWorld();
    const id = sim.faults.add({ kind: "slow", what: "answer", method: "sendMessage" });
    const sending = call(sim, "sendMessage", hello);
    await sim.ledger.waitFor((state) => botMessages(state, ANN).length === 1);
    expect(requestsOf(sim.ledger.state(), "sendMessage")[0]?.verdict).toBeUndefined();
    sim.faults.remove(id);
    expect((await sending).body.ok).toBe(true);
  });

  test("slow ledger: the message appears after the caller has gone", async () => {
    const sim = await smallWorld();
    const id = sim.faults.add({ kind: "slow", what: "ledger", method: "sendMessage" });
    const caller = new AbortController();
    const sending = fetch(`${sim.url}/bot${sim.token}/sendMessage?chat_id=${ANN}&text=late`, { signal: caller.signal });
    await sim.ledger.waitFor((state) => state.faults[0]?.hits === 1);
    expect(copies(sim)).toBe(0);
    caller.abort();
    await expect(sending).rejects.toThrow("aborted");
    await sim.ledger.waitFor((state) => requestsOf(state, "sendMessage")[0]?.callerGone);
    sim.faults.remove(id);
    const request = await sim.ledger.waitFor((state) => requestsOf(state, "sendMessage").find((seen) => seen.verdict));
    expect(request.verdict).toMatchObject({ wire: "client gone", executed: true });
    expect(copies(sim)).toBe(1);
  });

  test("slow with a time answers by itself", async () => {
    const sim = await smallWorld({ faults: [{ kind: "slow", what: "ledger", ms: 30 }] });
    await ok(sim, "sendMessage", hello);
    expect(copies(sim)).toBe(1);
  });

  test("hang: a poll is accepted and never answered, until the fault is removed", async () => {
    const sim = await smallWorld();
    const id = sim.faults.add({ kind: "hang", method: "getUpdates" });
    const poll = wire(sim, "getUpdates", { timeout: 1 });
    await sim.ledger.waitFor((state) => state.faults[0]?.hits === 1);
    sim.people.say(ANN, ANN, "anybody?");
    sim.faults.remove(id);
    expect((await poll).error).toBe("ECONNRESET");
    expect(requestsOf(sim.ledger.state(), "getUpdates")[0]?.verdict?.wire).toBe("hung");
    expect(await ok(sim, "getUpdates")).toHaveLength(1);
  });

  test("redirect: 302 to another port, which counts who follows", async () => {
    const sim = await smallWorld({ faults: [{ kind: "redirect", times: 2 }] });
    expect((await wire(sim, "sendMessage", hello)).status).toBe(302);
    expect(sim.ledger.state().redirectHits).toEqual([]);
    const followed = await fetch(`${sim.url}/bot${sim.token}/sendMessage`, {
      method: "POST",
      body: "{}",
      headers: { "content-type": "application/json" },
    });
    expect(new URL(followed.url).port).not.toBe(String(sim.port));
    expect(sim.ledger.state().redirectHits).toEqual([{ http: "GET", path: "/elsewhere", bytes: 0 }]);
    expect(copies(sim)).toBe(0);
  });
});
