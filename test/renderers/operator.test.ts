// What the operator chat answers, as a phone shows it: short lines, bounded, inert, with buttons that read by themselves.

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import { inert, replyCodeSchema } from "../../src/contracts/decision/index.ts";
import {
  OPERATOR_COMMANDS,
  OPERATOR_REPLIES,
  operatorActionSchema,
  type OperatorReply,
} from "../../src/contracts/decision/operator-codes.ts";
import { LANGUAGES } from "../../src/contracts/language.ts";
import { OPERATOR, TELEGRAM } from "../../src/contracts/limits.ts";
import { renderReply } from "../../renderers/telegram/index.ts";
import { ackText, commandDescription } from "../../renderers/text/en.ts";
import { HOUR, NOON } from "../decision/examples.ts";

const MEMBER = { severity: "critical", condition: null, state: "open", acknowledged: false } as const;
const clock = { timeZone: "Europe/Berlin", reference: NOON, nameZone: false };
const run = { run: "7k3f", workflow: "deploy", title: "shop-api 4.12.0", status: "waiting" } as const;

describe("an answer", () => {
  const answers: [OperatorReply, string[]][] = [
    [
      {
        code: "serviceStatus",
        since: NOON - HOUR,
        channels: [{ channel: "telegram:ops", state: "ready", lastPollAt: NOON }],
        runs: [
          { status: "running", count: 2 },
          { status: "waiting", count: 1 },
        ],
        decisions: 1,
        problems: 0,
        checks: { total: 2, troubled: 1, nextAt: NOON },
      },
      [
        "Service: running since 11:30",
        "telegram:ops: connected, last heard 12:30",
        "Runs: 2 running, 1 waits for an answer",
        "Decisions for you: 1 (/decisions)",
        "Problems: nothing needs you",
        "Checks: 2 monitors, 1 not well (/monitors), next 12:30",
      ],
    ],
    [{ code: "decisionList", items: [], from: 0, total: 0 }, ["No decision waits for you."]],
    [
      {
        code: "decisionList",
        items: [
          { item: 7, title: "Approve the deployment", fingerprint: "a91c4e", run: "7k3f", deadlineAt: NOON + HOUR },
        ],
        from: 6,
        total: 7,
      },
      ["7 decisions wait for you, 7 to 7:", "7. Approve the deployment \u00b7 run 7k3f \u00b7 a91c4e, until 13:30"],
    ],
    [
      { code: "runList", items: [run], from: 0, total: 1 },
      ["1 unfinished run:", "\u2022 7k3f \u00b7 deploy, shop-api 4.12.0: waits for an answer"],
    ],
    [
      { code: "runDetail", run, node: "approve", steps: 3, createdAt: NOON, decision: "Approve the deployment" },
      [
        "7k3f \u00b7 deploy, shop-api 4.12.0: waits for an answer",
        "Started 12:30",
        "3 steps, at approve",
        "Waits for: Approve the deployment",
      ],
    ],
    [
      { code: "cancelAsk", run },
      ["Cancel this run? It cannot be undone.", "7k3f \u00b7 deploy, shop-api 4.12.0: waits for an answer"],
    ],
    [{ code: "runControlled", verb: "pause", run }, ["Paused: run 7k3f (deploy)."]],
    [
      { code: "runRefused", verb: "cancel", run: { ...run, status: "completed" }, reason: "ended" },
      ["Not cancelled: run 7k3f (deploy) ended, completed."],
    ],
    [{ code: "problemList", items: [], runs: [], from: 0, total: 0 }, ["Nothing needs you."]],
    [
      {
        code: "problemList",
        items: [
          {
            item: 1,
            problem: "inDoubt",
            id: "e-9f31c2",
            title: "Approve it",
            destination: "telegram:ops/-1001",
            at: NOON,
          },
          { item: 2, problem: "undeliverable", id: "e-000001", destination: "telegram:ops/-1002", at: NOON },
        ],
        runs: [{ ...run, status: "ambiguous" }],
        from: 0,
        total: 2,
      },
      [
        "2 messages need you:",
        "1. Did \u201cApprove it\u201d arrive in telegram:ops/-1001? Telegram did not confirm it, sent 12:30",
        "2. Message e-000001 could not be shown in telegram:ops/-1002, made 12:30",
        "Runs that need somebody:",
        "\u2022 7k3f \u00b7 deploy, shop-api 4.12.0: needs somebody",
      ],
    ],
    [{ code: "monitorList", items: [], troubled: 0, from: 0, total: 0 }, ["Nothing is watched yet."]],
    [
      {
        code: "monitorList",
        items: [
          {
            name: "shop-health",
            title: "shop.example",
            standing: "down",
            since: NOON - HOUR,
            finding: { code: "status", seen: 503, expected: "200\u2013299" },
          },
          { name: "backup", title: "backup", standing: "up", since: NOON - HOUR },
          { name: "fresh", title: "fresh", standing: "new" },
        ],
        troubled: 1,
        from: 0,
        total: 9,
      },
      [
        "9 monitors, 1 not well, 1 to 3:",
        "\u2022 shop.example (shop-health): down since 11:30; 503 instead of 200\u2013299",
        "\u2022 backup: up since 11:30",
        "\u2022 fresh: not known yet",
      ],
    ],
  ];
  test.each(answers)("%o", (code, expected) => {
    expect(renderReply(replyCodeSchema.parse(code), clock).text.split("\n")).toEqual(expected);
  });

  test("to /help lists every command with what it does", () => {
    const { text } = renderReply({ code: "commandHelp", commands: [...OPERATOR_COMMANDS], waiting: 1 }, clock);
    for (const command of OPERATOR_COMMANDS) expect(text).toContain(`\n/${command} ${commandDescription(command)}`);
    expect(text).toMatch(/^One decision waits here/);
  });

  test("has its buttons in rows, and says who used which", () => {
    const code = { code: "cancelAsk", run } as const;
    const asked = renderReply(code, clock, {
      buttons: [
        [
          { action: "cancelRun", item: 1 },
          { action: "keepRun", item: 1 },
        ],
      ],
    });
    expect(asked.buttons).toEqual([
      [
        { label: "Cancel the run", choice: "1.cancelRun", style: "danger" },
        { label: "Keep it", choice: "1.keepRun" },
      ],
    ]);
    const done = renderReply(code, clock, { used: [{ action: "cancelRun", item: 1, by: "Ann", at: NOON }] });
    expect(done.buttons).toEqual([]);
    expect(done.text).toMatch(/\n\nCancelled by Ann, 12:30\.$/);
    const list = { code: "problemList", items: [], runs: [], from: 0, total: 1 } satisfies OperatorReply;
    const settled = renderReply(list, clock, { used: [{ action: "drop", item: 2, by: "Bea", at: NOON }] });
    expect(settled.text).toMatch(/\n\n2: dropped by Bea, 12:30\.$/);
  });

  test("a button's label fits a phone", () => {
    for (const action of operatorActionSchema.options) {
      const { buttons } = renderReply({ code: "monitorList", items: [], troubled: 0, from: 0, total: 0 }, clock, {
        buttons: [[{ action, item: 200 }]],
      });
      expect(buttons[0]?.[0]?.label.length).toBeLessThanOrEqual(TELEGRAM.buttonUnits);
    }
  });
});

test("whatever the titles, an answer is one inert message with sound marks, and a toast has at most 200 characters", () => {
  const wild = fc.string({ unit: "grapheme", maxLength: 300 }).map((text) => `${text}\u202e\u0000\n`);
  fc.assert(
    fc.property(wild, (text) => {
      const line = { run: text, workflow: text, title: text, status: "ambiguous" } as const;
      const many = <T>(make: (at: number) => T): T[] =>
        Array.from({ length: OPERATOR.pageItems }, (_, at) => make(at + 1));
      const page = { from: 0, total: 99 } as const;
      const lines = Array.from({ length: OPERATOR.candidates }, () => line);
      const replies: OperatorReply[] = [
        {
          code: "serviceStatus",
          channels: many(() => ({ channel: text, state: "down" as const })),
          runs: [{ status: "queued", count: 3 }],
          decisions: 3,
          problems: 2,
          checks: { total: 0, troubled: 0 },
        },
        {
          code: "decisionList",
          items: many((item) => ({ item, title: text, fingerprint: text, run: text, deadlineAt: NOON })),
          ...page,
        },
        { code: "runList", items: lines, ...page },
        { code: "runDetail", run: line, node: text, steps: 1, createdAt: NOON, decision: text, error: text },
        { code: "runWanted", verb: "cancel", runs: lines },
        { code: "runUnknown", given: text },
        { code: "runSeveral", given: text, runs: [text, text] },
        { code: "runControlled", verb: "resume", run: line },
        ...(["ended", "notPaused", "waitsForDecision", "waitsForCheckpoint", "unsettled"] as const).map(
          (reason) => ({ code: "runRefused", verb: "resume", run: line, reason }) as const,
        ),
        { code: "cancelAsk", run: line },
        {
          code: "problemList",
          items: many(
            (item) => ({ item, problem: "inDoubt", id: text, title: text, destination: text, at: NOON }) as const,
          ),
          runs: lines,
          ...page,
        },
        {
          code: "alertList",
          items: many((item) => ({ item, ...MEMBER, subject: text, title: text, since: NOON })),
          ...page,
        },
        {
          code: "monitorList",
          items: many(
            () =>
              ({
                name: text,
                title: text,
                standing: "down",
                since: NOON,
                finding: { code: "notStarted", detail: text.slice(0, 200) },
              }) as const,
          ),
          troubled: 3,
          ...page,
        },
        { code: "commandHelp", commands: [...OPERATOR_COMMANDS], waiting: 0 },
        { code: "moreBelow" },
        { code: "runKept", run: text },
        { code: "buttonUsed", by: text, at: NOON },
        { code: "buttonOfOther" },
      ];
      expect(new Set(replies.map(({ code }) => code)).size).toBe(OPERATOR_REPLIES.length);
      for (const [code, language] of replies.flatMap((one) => LANGUAGES.map((spoken) => [one, spoken] as const))) {
        const { entities, text: shown } = renderReply(
          replyCodeSchema.parse(code),
          { ...clock, language },
          {
            used: many((item) => ({ action: "showAgain", item, by: text, at: NOON }) as const),
          },
        );
        expect(shown.length).toBeLessThanOrEqual(TELEGRAM.messageUnits);
        // Short by construction: nothing of a page is cut away.
        expect(shown.endsWith(".")).toBe(true);
        expect(inert(shown, { lines: true })).toBe(shown);
        for (const { length, offset } of entities) expect(offset + length).toBeLessThanOrEqual(shown.length);
        expect(ackText(code, clock).length).toBeLessThanOrEqual(TELEGRAM.toastChars);
      }
    }),
    { numRuns: 60 },
  );
});
