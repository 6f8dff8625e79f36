// Alerts on the terminal, against a server that says what the test tells it to.
import { describe, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import type { AlertView } from "../../src/contracts/protocol/alert-operations.ts";
import { NOON } from "../client/views.ts";
import { always, fits, on, serve } from "./fake.ts";

const ALERT: AlertView = {
  alertId: `alert-${"a".repeat(40)}`,
  shortId: "a-aaaaaa",
  audience: "ops",
  groupKey: "monitor:shop",
  state: "open",
  holds: true,
  severity: "critical",
  subject: "shop.example",
  condition: "down",
  title: null,
  lines: ["503 instead of 200"],
  origin: { kind: "monitor", name: "shop" },
  since: NOON,
  endedAt: null,
  seen: 3,
  episodes: 2,
  acknowledgedAt: null,
  acknowledgedBy: null,
  snoozedUntil: null,
  repairAskedAt: null,
  told: [
    { destination: "telegram:default/1001", status: "sent" },
    { destination: "telegram:default/1002", status: "notSent" },
  ],
};

describe("alerts", () => {
  test("lists what is wrong, who was told and that nobody has taken it", async () => {
    const { code, out } = await on(await always({ alerts: [ALERT] }), ["alerts"]);
    expect(code).toBe(0);
    expect(out).toContain("a-aaaaaa  shop.example is down");
    expect(out).toContain("key monitor:shop · audience ops · monitor shop");
    expect(out).toContain("Nobody has acknowledged it.");
    expect(out).toContain("telegram:default/1001: told");
    expect(out).toMatch(/telegram:default\/1002: was not told/);
    fits(out);
  });

  test("with nothing wrong says so, and shows one whole by its key", async () => {
    expect((await on(await always({ alerts: [] }), ["alerts"])).out).toContain("Nothing is wrong.");
    const over = { ...ALERT, state: "recovered", endedAt: NOON + 60_000, acknowledgedBy: "Ann", acknowledgedAt: NOON };
    const { out } = await on(await always(over), ["alerts", "show", "monitor:shop"]);
    expect(out).toContain("shop.example is down (over)");
    expect(out).toContain("Acknowledged by Ann");
    expect(out).toContain("begun 2 times");
    fits(out);
  });

  test("what comes from outside cannot write to the terminal", async () => {
    const evil = { ...ALERT, subject: "\u001b]0;owned\u0007 \u202eevil", lines: ["\u001b[2J"] };
    const { out } = await on(await always({ alerts: [evil] }), ["alerts"], { terminal: true });
    expect(out).not.toContain("\u001b]");
    expect(out).not.toContain("\u001b[2J");
    expect(out).not.toContain("\u202e");
  });

  test("an alert that nobody knows gives the code for records that are not found", async () => {
    const error = { code: "HP630", kind: "alertNotFound", message: 'No alert fits "x".', remedy: "List them." };
    const server = await serve(() => ({ outcome: "rejected", error }));
    expect((await on(server, ["alerts", "show", "x"])).code).toBe(EXIT.notFound.code);
  });

  test("ack and snooze ask for the alert that is named, and say what it came to", async () => {
    const asked: unknown[] = [];
    const server = await serve(({ operation, payload }) => {
      asked.push([operation, payload]);
      const done = { alertId: ALERT.alertId, shortId: "a-aaaaaa", by: "Ann", at: NOON };
      return { outcome: "accepted", result: { ...done, result: operation === "alert.snooze" ? "done" : "before" } };
    });
    expect((await on(server, ["alerts", "ack", "a-aaaaaa"])).out).toContain("was acknowledged already by Ann");
    expect((await on(server, ["alerts", "snooze", "a-aaaaaa", "--minutes", "90"])).out).toContain(
      "makes no sound until",
    );
    expect(asked).toEqual([
      ["alert.acknowledge", { alert: "a-aaaaaa" }],
      ["alert.snooze", { alert: "a-aaaaaa", forMs: 90 * 60_000 }],
    ]);
    const bad = await on(server, ["alerts", "snooze", "a-aaaaaa", "--minutes", "soon"]);
    expect(bad.code).not.toBe(0);
    expect(asked).toHaveLength(2);
  });

  test("--json is one document with the server's result", async () => {
    const { out } = await on(await always({ alerts: [ALERT] }), ["alerts", "--json"]);
    expect(JSON.parse(out)).toMatchObject({ command: "alerts", ok: true, result: { alerts: [ALERT] } });
  });
});
