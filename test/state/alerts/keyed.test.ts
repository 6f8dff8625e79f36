/** Messages of a run under one key: one message that is edited, a worse one anew, and a last word. */
import { describe, expect, it } from "vitest";
import type { DefinitionSnapshot } from "../../../src/contracts/definition.ts";
import type { SendInput } from "../../../src/state/notifications/send.ts";
import { becomeReady, claimNext, startRun } from "../fixture.ts";
import { Chat } from "./chat.ts";

const MINUTE = 60_000;

const REPORTING: DefinitionSnapshot = {
  schema: "holdpoint.definition-snapshot.v1",
  name: "reporting",
  startAt: "tell",
  maxSteps: 100,
  nodes: { tell: { type: "notify", timeoutMs: null, notify: { kind: "progress", audience: "ops", keyed: true } } },
  edges: [{ from: "tell", to: "tell" }],
};

class Report {
  readonly chat: Chat;
  readonly claim: SendInput["claim"];
  #step = 0;

  private constructor(chat: Chat, claim: SendInput["claim"]) {
    this.chat = chat;
    this.claim = claim;
  }

  static async open(): Promise<Report> {
    return Report.on(await Chat.open());
  }

  static async on(chat: Chat): Promise<Report> {
    await startRun(chat.store, REPORTING);
    const launch = await claimNext(chat.store, chat.epoch);
    await becomeReady(chat.store, launch, REPORTING);
    return new Report(chat, launch.claim);
  }

  /** One visit of the node. */
  async say(message: string, change: Partial<SendInput> = {}): Promise<void> {
    const { chat, claim } = this;
    const { access } = chat;
    const step = this.#step;
    const said = { kind: "progress", audience: "ops", severity: "info", groupKey: "modules", silent: false } as const;
    await chat.store.notifications.send({ claim, step, nodeId: "tell", message, access, ...said, ...change });
    const entry = { step, nodeId: "tell", outcome: "ok", output: null, durationMs: 1, next: "tell" } as const;
    await chat.store.runs.advance({ claim, first: step, entries: [entry] });
    this.#step += 1;
  }
}

describe("messages of a run under one key", () => {
  it("are one message that is edited, and the final one closes it in reply", async () => {
    const report = await Report.open();
    const { chat } = report;
    await report.say("Progress: 1/27 modules");
    await chat.pass(0);
    for (const count of [2, 3, 4]) {
      await report.say(`Progress: ${count}/27 modules`);
      await chat.pass(2 * MINUTE);
    }
    expect(chat.in()).toMatchObject([{ silent: false, edits: 3, tokens: {} }]);
    expect(chat.in()[0]?.text).toMatch(
      /^\u2139\ufe0f A title\nProgress: 4\/27 modules\nreporting \u00b7 run [0-9a-z]{4}$/,
    );
    await report.say("All modules are done.\nNothing is left.", { kind: "final" });
    await chat.pass(MINUTE);
    expect(chat.in()[1]).toMatchObject({ replyTo: chat.in()[0]?.reference });
    expect(chat.in()[1]?.text).toMatch(/^\u{1F3C1} A title\nAll modules are done\.\nNothing is left\.\nreporting/u);
    expect(chat.heads()[0]).toBe("\u2139\ufe0f A title \u00b7 done");
  });

  it("of a worse kind are a new message that can be acknowledged; a better one edits it", async () => {
    const report = await Report.open();
    const { chat } = report;
    await report.say("All is well");
    await chat.pass(MINUTE);
    await report.say("The disk is nearly full", { severity: "warning" });
    await chat.pass(MINUTE);
    expect(chat.heads()).toEqual(["\u2139\ufe0f A title", "\u26a0\ufe0f A title"]);
    expect(Object.keys(chat.in()[1]?.tokens ?? {})).toEqual(["acknowledge", "snooze"]);
    await chat.press(chat.in()[1], "acknowledge");
    await report.say("Room was made");
    await chat.pass(5 * MINUTE);
    expect(chat.in()).toHaveLength(2);
    expect(chat.in()[1]?.text).toContain("Room was made");
  });

  it("belong to their run: another one begins its own", async () => {
    const report = await Report.open();
    const { chat } = report;
    await report.say("one");
    const other = await Report.on(chat);
    await other.say("two");
    await chat.pass(MINUTE);
    expect(chat.in()).toHaveLength(2);
  });

  it("end with their run, without a word; a warning stays until somebody has taken it", async () => {
    const report = await Report.open();
    const { chat } = report;
    await report.say("news");
    await report.say("look at this", { groupKey: "other", severity: "warning" });
    await chat.pass(MINUTE);
    const actor = { type: "human", id: "uid:1" } as const;
    await chat.store.runs.cancel({ run: report.claim.runId, expectedRevision: null, receipt: null, actor });
    await chat.pass(MINUTE);
    expect(chat.heads()).toEqual(["\u2139\ufe0f A title \u00b7 done", "\u26a0\ufe0f A title"]);
    expect(chat.store.read.alerts.list({ all: false })).toMatchObject([{ severity: "warning", state: "open" }]);
  });

  it("are told once, also when the node is executed again; a last word alone is a message like any other", async () => {
    const report = await Report.open();
    const { chat, claim } = report;
    const said = { kind: "final", audience: "ops", severity: "critical", groupKey: "k", silent: true } as const;
    const again = { claim, step: 0, nodeId: "tell", message: "It failed.", access: chat.access, ...said };
    await chat.store.notifications.send(again);
    await chat.store.notifications.send({ ...again, message: "Something else" });
    await chat.pass(MINUTE);
    expect(chat.in()).toMatchObject([{ silent: true }]);
    expect(chat.in()[0]?.text).toContain("\u{1F534} A title\nIt failed.");
  });

  it("are refused when they do not fit one message", async () => {
    const report = await Report.open();
    await expect(report.say("x".repeat(3_001))).rejects.toMatchObject({
      kind: "outputTooLarge",
      details: { limit: 3_000 },
    });
  });
});
