// The card as people see it in Telegram: waiting, settled, long, doubtful.

import { describe, expect, test } from "vitest";

import { buttonIdsOf } from "../../src/contracts/decision/codes.ts";
import { forChat, inert, replyCodeSchema, type CardState, type ReplyCode } from "../../src/contracts/decision/index.ts";
import { bodyOf, renderCard, renderNotification, renderReply, type Part } from "../../renderers/telegram/index.ts";
import { OPERATOR_REPLIES } from "../../src/contracts/decision/operator-codes.ts";
import { ackText, replyText } from "../../renderers/text/en.ts";
import { exampleCard, HOUR, NOON } from "../decision/examples.ts";

const PENDING: CardState = { status: { kind: "pending" } };
const BY_ANN: CardState = {
  status: { kind: "chosen", provenance: "human", label: "Approve", by: "Ann", channel: "pi", at: NOON + 33 * 60_000 },
  story: { outcome: "completed", at: NOON + 39 * 60_000, detail: "4.12.0 is live" },
};

function only(parts: Part[]): Part {
  expect(parts).toHaveLength(1);
  return parts[0] as Part;
}

function marked(part: Part, type: string): string[] {
  return part.entities
    .filter((entity) => entity.type === type)
    .map(({ length, offset }) => part.text.slice(offset, offset + length));
}

const card = exampleCard();
const body = [
  "shop-api 4.12.0 to production",
  "",
  "Changes",
  "\u2022 Three migrations, all reversible",
  "\u2022 Cache keys renamed",
  "Repository: shop-api",
  "Commit: 9f2c1e7",
];

describe("a short card", () => {
  test("waits with its deadline, its default, its origin and its buttons", () => {
    const part = only(renderCard(card, PENDING));
    expect(part.text.split("\n")).toEqual([
      "\u{1F7E1} Approve the deployment",
      ...body,
      "",
      "Answer by Tue 14:30 CET (in 2 hours). Without an answer: Stop.",
      `deploy \u00b7 run 7k3f \u00b7 ${card.fingerprint}`,
    ]);
    expect(marked(part, "bold")).toEqual(["Approve the deployment", "Changes", "Repository:", "Commit:"]);
    expect(marked(part, "code")).toEqual([card.fingerprint]);
    expect(part.buttons).toEqual([
      [
        { label: "Approve", choice: "approve", style: "success" },
        { label: "Replan\u2026", choice: "replan" },
        { label: "Stop", choice: "stop", style: "danger" },
      ],
    ]);
  });

  test("gives its times to the reader's own zone", () => {
    const part = only(renderCard(card, PENDING));
    expect(part.entities.filter(({ type }) => type === "date_time")).toEqual([
      expect.objectContaining({ unixTime: (NOON + 2 * HOUR) / 1_000, format: "wt" }),
      expect.objectContaining({ unixTime: (NOON + 2 * HOUR) / 1_000, format: "r" }),
    ]);
    expect(marked(part, "date_time")).toEqual(["Tue 14:30 CET", "in 2 hours"]);
  });

  test("settled, keeps everything and adds verdict and story; one dead button is left", () => {
    const part = only(renderCard(card, BY_ANN));
    expect(part.text.split("\n")).toEqual([
      "\u2705 Approve the deployment",
      ...body,
      "",
      "Answer by Tue 14:30 CET. Without an answer: Stop.",
      `deploy \u00b7 run 7k3f \u00b7 ${card.fingerprint}`,
      "",
      "Approved by Ann, Tue 13:03 CET, in Pi.",
      "Run completed 13:09 CET: 4.12.0 is live.",
    ]);
    expect(part.buttons).toEqual([[{ label: "Approved by Ann 13:03", choice: null, disabled: true }]]);
    expect(bodyOf([part])).toBe(body.join("\n"));
  });

  test.each<[string, CardState["status"], string, string]>([
    [
      "stopped by a person",
      { kind: "chosen", provenance: "human", label: "Stop", by: "Bea", channel: "telegram:ops", at: NOON },
      "\u26d4",
      "Stopped by Bea, Tue 12:30 CET, in Telegram.",
    ],
    [
      "with a text",
      {
        kind: "chosen",
        provenance: "human",
        label: "Replan",
        text: "use blue",
        by: "Ann",
        channel: "terminal",
        assurance: "local",
        at: NOON,
      },
      "\u2705",
      "Replanned by Ann, Tue 12:30 CET, in the terminal (local). \u201cuse blue\u201d",
    ],
    [
      "by default",
      { kind: "chosen", provenance: "timeout_policy", label: "Stop", at: NOON + 2 * HOUR },
      "\u231b",
      "No answer by Tue 14:30 CET: Stop was used.",
    ],
    [
      "late but in grace",
      { kind: "chosen", provenance: "human", label: "Approve", at: NOON, graceAfterOutage: true },
      "\u2705",
      "Approved, Tue 12:30 CET. It counts, because the deadline passed while I was offline.",
    ],
    ["expired", { kind: "expired", at: NOON }, "\u231b", "No answer by Tue 12:30 CET. The decision expired."],
    [
      "cancelled",
      { kind: "cancelled", at: NOON, by: "Cem", reason: "the run was stopped" },
      "\u26d4",
      "Cancelled by Cem, Tue 12:30 CET: the run was stopped.",
    ],
    [
      "superseded",
      { kind: "superseded", at: NOON },
      "\u231b",
      "Out of date since Tue 12:30 CET: a newer version of this question took its place.",
    ],
  ])("%s", (_name, status, glyph, line) => {
    const { text } = only(renderCard(card, { status }));
    expect(text.startsWith(`${glyph} Approve the deployment\n`)).toBe(true);
    expect(text.split("\n").at(-1)).toBe(line);
  });

  test("says when it may be a repeat, is offered again, or will wait after the answer", () => {
    const notes = {
      possibleRepeatOf: NOON - HOUR / 2,
      offeredAgain: { from: NOON - HOUR / 2, to: NOON - HOUR / 4 },
      sourceChanged: true,
    };
    const { text } = only(renderCard(card, { ...PENDING, notes }));
    expect(text).toContain("\nPossible repeat of the card from 12:00 CET; answering either one counts.\n");
    expect(text).toContain(
      "\nI was offline from 12:00 CET to 12:15 CET. If you tapped in that time, please tap again.\n",
    );
    expect(text).toContain(
      "\nThe workflow\u2019s files are not as when this was asked. An answer is kept, but the run will wait until they are restored, or somebody cancels it.\n",
    );
  });
});

describe("a long card", () => {
  const presentation = {
    ...card.presentation,
    blocks: [
      { kind: "paragraph" as const, text: "First. ".repeat(400).trim() },
      { kind: "preformatted" as const, text: "$ make\n".repeat(700) },
    ],
  };
  const long = { ...card, presentation };

  test("begins every part with its status line and has its buttons under the last", () => {
    const parts = renderCard(long, PENDING);
    expect(parts.map(({ text }) => text.slice(0, text.indexOf("\n")))).toEqual([
      `\u{1F7E1} Approve the deployment \u00b7 part 1/3 \u00b7 ${card.fingerprint}`,
      `Approve the deployment \u00b7 part 2/3 \u00b7 ${card.fingerprint}`,
      `\u{1F7E1} Approve the deployment \u00b7 part 3/3 \u00b7 ${card.fingerprint}`,
    ]);
    expect(parts.map(({ buttons }) => buttons.flat().length)).toEqual([0, 0, 3]);
    // Cut between the blocks, and the preformatted text is marked in both parts that hold it.
    expect(parts[0]?.text.endsWith("First.")).toBe(true);
    expect(parts.map((part) => marked(part, "pre").length)).toEqual([0, 1, 1]);
  });

  test("settled, tells the verdict in its first and last part and leaves the one between alone", () => {
    const [before, after] = [renderCard(long, PENDING), renderCard(long, BY_ANN)];
    expect(after[0]?.text).toContain(
      `part 1/3 \u00b7 ${card.fingerprint}\nApproved by Ann, Tue 13:03 CET, in Pi.\nshop-api`,
    );
    expect(after[1]).toEqual(before[1]);
    expect(
      after[2]?.text.endsWith("Approved by Ann, Tue 13:03 CET, in Pi.\nRun completed 13:09 CET: 4.12.0 is live."),
    ).toBe(true);
    expect(bodyOf(after)).toBe(bodyOf(before));
  });
});

test("a label that is too long for a button is cut there and whole in the card", () => {
  const label = "Deploy to the blue pool first and then to everybody";
  const long = exampleCard({ choices: { go: { label }, stop: { label: "Stop" } } });
  const part = only(renderCard(long, PENDING));
  expect(part.buttons.map((row) => row.map((button) => button.label))).toEqual([
    ["Deploy to the blue pool first a\u2026"],
    ["Stop"],
  ]);
  expect(part.text).toContain(`\n\n\u2022 ${label}\n`);
});

test("hostile text arrives once, literally, and moves nothing", () => {
  const evil = "<script>&_*[x](http://evil) \u202egnp.exe \u0000";
  const part = only(renderCard({ ...card, title: evil }, { status: { kind: "cancelled", at: NOON, by: evil } }));
  const shown = "<script>&_*[x](http://evil) \u27e8U+202E\u27e9gnp.exe \u2400";
  expect(part.text.startsWith(`\u26d4 ${shown}\n`)).toBe(true);
  expect(part.text).toContain("Cancelled by <script>&_*[x](http://evil)");
  expect(inert(part.text, { lines: true })).toBe(part.text);
});

describe("a card that several must agree on", () => {
  const votes = { need: 2, veto: ["Stop"], cast: [] };

  test("says how many, and who alone decides, before anybody has voted", () => {
    const { text } = only(renderCard(card, { ...PENDING, votes }));
    expect(text).toContain("2 people must choose the same. \u201cStop\u201d by one person decides at once.");
    expect(text).not.toContain("Votes:");
  });

  test("names who chose what, keeps its buttons, and keeps the votes when it is decided", () => {
    const cast = [
      { label: "Approve", by: ["Ann"] },
      { label: "Stop", by: ["Bea", "Cem"] },
    ];
    const part = only(renderCard(card, { ...PENDING, votes: { ...votes, cast, everybodyVoted: true } }));
    const line = "Votes: Approve 1 of 2 (Ann) \u00b7 Stop 2 of 2 (Bea and Cem).";
    expect(part.text).toContain(line);
    expect(part.text).toContain("Everybody has voted, and no choice has enough. Tap again to change your vote.");
    expect(part.buttons).toHaveLength(1);
    const settled = only(renderCard(card, { ...BY_ANN, votes: { ...votes, cast } }));
    expect(settled.text).toContain(line);
    expect(settled.text).toContain("Approved by Ann");
  });

  test("says to whom it was passed on, since when and why; that stays", () => {
    const escalated = { audience: "on-call", names: ["Bea"], cause: "silence" as const, at: NOON + HOUR };
    const line = "Passed on to on-call (Bea), Tue 13:30 CET: nobody had answered.";
    for (const state of [PENDING, BY_ANN])
      expect(only(renderCard(card, { ...state, notes: { escalated } })).text).toContain(line);
  });
});

describe("a timeout is an outcome of its own", () => {
  test("with the default Stop it is no denial: its mark, its words and its button say that the time ran out", () => {
    const status = { kind: "chosen", provenance: "timeout_policy", label: "Stop", at: NOON + 2 * HOUR } as const;
    const part = only(renderCard(card, { status }));
    expect(part.text).toMatch(/^\u231b /);
    expect(part.text).toContain("No answer by Tue 14:30 CET: Stop was used.");
    expect(part.text).not.toMatch(/\u26d4|Stopped|Cancelled/);
    expect(part.buttons).toEqual([[{ label: "Stop used 14:30", choice: null, disabled: true }]]);
  });
});

describe("what people are told", () => {
  const clock = { timeZone: "Europe/Berlin", reference: NOON + HOUR };
  const reminder = { title: "Deploy", askedAt: NOON, missing: [] as string[] };
  test.each<[ReplyCode, string]>([
    [{ code: "received" }, "Received, checking. The result follows as a message."],
    [{ code: "chosen", label: "Approve" }, "Approved."],
    [{ code: "chosen", label: "Blue pool" }, "\u201cBlue pool\u201d chosen."],
    [
      { code: "textAccepted", label: "Replan", text: "use the blue pool" },
      "Got it: replan, \u201cuse the blue pool\u201d.",
    ],
    [
      { code: "votesRecorded", label: "Approve", have: 1, need: 2 },
      "Recorded: 1 of 2 for Approve, waiting for one more.",
    ],
    [{ code: "alreadyDecided", label: "Approve", by: "Ann", at: NOON }, "Already approved by Ann at 12:30."],
    [
      { code: "alreadyDecided", label: "Approve", by: "Ann", byReader: true, at: NOON },
      "Already approved by you at 12:30.",
    ],
    [
      { code: "alreadyDecided", label: "Blue", at: NOON - 24 * HOUR },
      "Already decided at Mon 12:30: \u201cBlue\u201d.",
    ],
    [{ code: "notOnList" }, "You are not on the list for this decision."],
    [{ code: "stale", newCard: true }, "This version is out of date; the new card is below."],
    [{ code: "expired", at: NOON, label: "Stop" }, "The time for this ran out at 12:30: Stop was used."],
    [{ code: "expired", at: NOON - 30 * 24 * HOUR }, "The time for this ran out at Sun 1 Nov 12:30."],
    [{ code: "textTooShort", limit: 3, seen: 1 }, "That is too short: 1 character, at least 3 needed. Reply again."],
    [
      { code: "textTooLong", limit: 200, seen: 201 },
      "That is too long: 201 characters, at most 200 fit. Reply again with less.",
    ],
    [
      { code: "cancelled", by: "Cem", at: NOON, reason: "the run was stopped" },
      "Cancelled by Cem at 12:30: the run was stopped.",
    ],
    [
      { code: "offline", from: NOON, to: NOON + 180_000 },
      "I was offline from 12:30 to 12:33. If you tapped in that time, please tap again.",
    ],
    [
      { code: "votesRecorded", label: "Approve", have: 1, need: 2, everybodyVoted: true },
      "Recorded: 1 of 2 for Approve. Everybody has voted, and no choice has enough; you can still change your vote.",
    ],
    [
      { code: "wrongChannel", channels: ["telegram:ops", "pi"] },
      "This decision takes answers in Telegram or in Pi only.",
    ],
    [
      { code: "reminder", ...reminder, number: 1, last: false, deadlineAt: NOON + 2 * HOUR, defaultLabel: "Stop" },
      "\u231b Still waiting: \u201cDeploy\u201d. Asked 60 minutes ago. Answer by Tue 14:30 (in 60 minutes). Without an answer: Stop.",
    ],
    [
      { code: "reminder", ...reminder, number: 2, last: false, missing: ["Bea", "Cem"] },
      "\u231b Still waiting, 2nd reminder: \u201cDeploy\u201d. Asked 60 minutes ago. Not voted yet: Bea and Cem.",
    ],
    [
      { code: "reminder", ...reminder, number: 3, last: true, everybodyVoted: true },
      "\u231b Last reminder, the 3rd: \u201cDeploy\u201d. Asked 60 minutes ago. Everybody has voted, and no choice has enough; a vote can still be changed.",
    ],
    [
      { code: "escalated", audience: "on-call", names: ["Bea"], cause: "silence", askedAt: NOON, at: NOON + HOUR },
      "Passed on to on-call (Bea). No answer since 12:30. Your answer still counts.",
    ],
    [
      { code: "escalated", audience: "on-call", names: [], cause: "undeliverable", askedAt: NOON, at: NOON },
      "Passed on to on-call. The card could not be shown. Your answer still counts.",
    ],
    [
      { code: "help", waiting: 0 },
      "Nothing waits for you. When something does, a card with buttons appears here. /help lists what you can ask.",
    ],
    [
      { code: "channelDeaf", channel: "telegram:ops", since: NOON, cause: "token" },
      "\u26a0\ufe0f telegram:ops has heard nothing since 12:30: Telegram does not accept the bot\u2019s token. Put a valid one into its token file.",
    ],
    [
      { code: "channelHears", channel: "telegram:ops", since: NOON, until: NOON + 180_000, cause: "unreachable" },
      "\u2705 telegram:ops hears again. It did not from 12:30 to 12:33; taps from that time are read now.",
    ],
    [
      { code: "terminalOff" },
      "This decision cannot be answered at the terminal: its audience does not name that destination.",
    ],
  ])("%o", (code, sentence) => {
    expect(replyText(replyCodeSchema.parse(code), clock)).toBe(sentence);
    expect(ackText(code, clock)).toBe(sentence);
  });

  test("a choice that takes text asks in a message, and the toast only points to it", () => {
    const code = {
      code: "promptText",
      label: "Replan",
      prompt: "What should change?",
      minLength: 1,
      maxLength: 4_000,
    } as const;
    expect(renderReply(code, clock).text).toBe("What should change? Reply to this message.");
    expect(ackText(code, clock)).toBe("Replan: reply to the message below with your text.");
    expect(renderReply({ ...code, minLength: 3, maxLength: 9 }, clock).text).toBe(
      "What should change? Reply to this message. 3 to 9 characters.",
    );
  });

  test("every code has words, and a toast has at most 200 characters", () => {
    const long = "x".repeat(500);
    // What operators are answered is looked at in operator.test.ts.
    const options = replyCodeSchema.options.filter(
      (option) => !(OPERATOR_REPLIES as readonly unknown[]).includes(option),
    );
    const codes = options.map((option) => option.shape.code.value);
    expect(codes.length).toBeGreaterThan(25);
    const values = {
      label: long,
      text: long,
      by: long,
      given: long,
      labels: [long, long],
      run: long,
      title: long,
      prompt: long,
      channel: long,
      since: NOON,
      until: NOON,
      id: long,
      fingerprint: "a91c4e",
      at: NOON,
      from: NOON,
      to: NOON,
      have: 1,
      count: 2,
      need: 2,
      limit: 3,
      seen: 1,
      waiting: 2,
      queued: 1,
      minLength: 1,
      maxLength: 9,
      newCard: false,
      doubtful: [],
      chat: long,
      how: "resent",
      cards: Array.from({ length: 30 }, (_, at) => ({ id: `decision-${at}`, title: long, fingerprint: "a91c4e" })),
      more: 226,
      action: "retry",
      reason: "unknown",
      status: { kind: "expired", at: NOON },
      channels: ["telegram:ops", "pi"],
      number: 2,
      last: false,
      askedAt: NOON,
      missing: [long, long],
      audience: long,
      names: [long, long],
    };
    // The one name stands for two lists of words.
    const valueOf = (key: string, code: string): unknown => {
      if (key === "code") return code;
      if (key === "action" && code.startsWith("alert")) return "snooze";
      if (key === "cause") return code === "escalated" ? "silence" : "conflict";
      return values[key as keyof typeof values];
    };
    for (const option of options) {
      const keys = Object.keys(option.shape);
      const code = replyCodeSchema.parse(
        Object.fromEntries(
          keys
            .filter((key) => key in values || key === "code" || key === "cause")
            .map((key) => [key, valueOf(key, option.shape.code.value)]),
        ),
      );
      expect(replyText(code, clock).length).toBeGreaterThan(5);
      expect(ackText(code, clock).length).toBeLessThanOrEqual(200);
      const part = renderReply(code, clock);
      expect(part.text.length).toBeLessThanOrEqual(4_096);
      // What it says is whole: nothing is cut that has a button.
      if (code.code === "offlineDigest")
        expect(part.text).toMatch(/and 226 more\.\n\nTap one to see its card again\.$/);
      expect(part.buttons.flat().map(({ choice }) => choice)).toEqual(buttonIdsOf(code));
    }
  });

  test("a question about a card in another chat has three buttons, and names whose chat it is", () => {
    const asked = { code: "didArrive", title: "Approve the deployment", chat: "1001", at: NOON } as const;
    const part = renderReply({ ...asked, person: "Ann" }, clock);
    expect(part.text).toMatch(
      /^\u26a0\ufe0f Did a card arrive in Ann\u2019s chat\?\n\u201cApprove the deployment\u201d, sent .*\. Telegram did not confirm it\.$/u,
    );
    expect(part.buttons.map((row) => row.map(({ label }) => label))).toEqual([["Yes", "No, send again", "Drop it"]]);
    expect(replyText(asked, clock)).toContain("in chat 1001?");
    expect(replyText({ ...asked, what: "alert" }, clock)).toContain("Did an alert arrive");
    expect(replyText({ ...asked, what: "alertList" }, clock)).toContain("Did a list of alerts arrive");
  });

  test.each([
    [
      "arrived",
      "Ann",
      "\u2705 \u201cApprove it\u201d did arrive, says Ann. If the card is not there, /decisions shows it again.",
    ],
    ["arrived", undefined, "\u2705 \u201cApprove it\u201d did arrive."],
    ["resent", "Ann", "\u2705 \u201cApprove it\u201d did not arrive, says Ann, and is sent again."],
    ["dropped", "Ann", "\u26d4 \u201cApprove it\u201d is not sent again by Ann."],
    ["over", undefined, "\u2705 Nothing to answer any more: the decision about \u201cApprove it\u201d is over."],
  ] as const)("a question that is over (%s, %s) says what came of it", (how, by, words) => {
    const code = { code: "arrivalSettled", title: "Approve it", how, ...(by === undefined ? {} : { by }) } as const;
    expect(replyText(code, clock)).toBe(words);
  });
});

describe("a notification", () => {
  const notification = {
    level: "progress",
    workflowName: "deploy",
    title: "shop-api 4.12.0",
    runShortId: "7k3f",
    message: "Half of it is done.",
    at: NOON,
  } as const;
  const at = { timeZone: "Europe/Berlin", reference: NOON };

  test("says what the run said under its name, with nothing to press", () => {
    const part = only(renderNotification(notification, at));
    expect(part.text.split("\n")).toEqual([
      "\u2139\ufe0f shop-api 4.12.0",
      "Half of it is done.",
      "",
      "deploy \u00b7 run 7k3f",
    ]);
    expect(marked(part, "bold")).toEqual(["shop-api 4.12.0"]);
    expect(part.buttons).toEqual([]);
    expect(only(renderNotification({ ...notification, level: "final", title: null }, at)).text).toMatch(
      /^\u{1F3C1} deploy\n/u,
    );
  });

  test("of many words is cut into parts that give its text exactly, and keeps hidden characters visible", () => {
    const message = `${"A line of the report.\n".repeat(600)}\u202eevil`;
    const parts = renderNotification({ ...notification, message }, at);
    expect(parts.length).toBeGreaterThan(3);
    expect(bodyOf(parts)).toBe(inert(message, { lines: true }));
    for (const { text } of parts) expect(text.length).toBeLessThanOrEqual(4_096);
    expect(parts.at(-1)?.text).toContain("\u27e8U+202E\u27e9evil");
  });

  test("that may be a repeat says so", () => {
    const part = only(renderNotification({ ...notification, possibleRepeatOf: NOON - 60_000 }, at));
    expect(part.text).toContain("Possible repeat of the message from ");
  });
});

describe("a card in a chat with several people", () => {
  test("names who may answer, in every state, as far as the line holds them", () => {
    const asked = { ...card, audience: ["Ann", "Bea", "Cem"] };
    const last = (state: CardState): string => only(renderCard(asked, state, { group: true })).text;
    expect(last(PENDING)).toContain("\nFor Ann, Bea or Cem.\ndeploy");
    expect(last(BY_ANN)).toContain("\nFor Ann, Bea or Cem.\n");
    expect(only(renderCard(asked, PENDING)).text).not.toContain("For Ann");
    const many = { ...card, audience: Array.from({ length: 100 }, (_, at) => `Somebody ${at} ${"x".repeat(200)}`) };
    expect(only(renderCard(many, PENDING, { group: true })).text).toMatch(/\nFor Somebody 0 .* and 9\d more\.\n/);
    expect(only(renderCard({ ...card, audience: [] }, PENDING, { group: true })).text).toContain(
      "\nFor whoever is on the list.\n",
    );
  });
});

describe("a sensitive card", () => {
  const presentation = { ...card.presentation, sensitive: true } as const;
  const secret = forChat({ ...card, presentation }, { ...BY_ANN, status: { ...BY_ANN.status, text: "hush" } as never });

  test("shows the title and the choices, and where the rest can be read", () => {
    const part = only(renderCard(secret.card, PENDING));
    expect(part.text.split("\n").slice(0, 2)).toEqual([
      "\u{1F7E1} Approve the deployment",
      `What this is about is not sent to chats. Read it on the server: holdpoint decisions ${card.fingerprint}`,
    ]);
    expect(part.buttons.flat().map(({ choice }) => choice)).toEqual(["approve", "replan", "stop"]);
  });

  test("carries nothing of what it is about, nor of how it was answered or what the run ended with", () => {
    const text = JSON.stringify(secret);
    for (const said of ["shop-api", "migrations", "9f2c1e7", "hush", "is live"]) expect(text).not.toContain(said);
    expect(only(renderCard(secret.card, secret.state)).text).toMatch(/Approved by Ann/);
  });
});
