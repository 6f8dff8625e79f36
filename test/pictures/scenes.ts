/** What the pictures show: messages as the server would have them sent, through the adapter's own calls, into chats of the stand-in. */
import { BotClient } from "../../adapters/telegram/call.ts";
import { sendPart } from "../../adapters/telegram/send.ts";
import { partCount } from "../../adapters/telegram/message.ts";
import type { Sim } from "../../adapters/telegram/sim/types.ts";
import type { AlertModel } from "../../src/contracts/alert.ts";
import type { CardModel, CardState } from "../../src/contracts/decision/card.ts";
import type { ReplyCode } from "../../src/contracts/decision/codes.ts";
import type { MessageContent, Perform } from "../../src/contracts/protocol/channel.ts";
import { exampleCard, HOUR, NOON } from "../decision/examples.ts";

export const MINUTE = 60_000;
export const ANN = 1_001;
export const OPS = -1_001_002;

export interface Scene {
  readonly name: string;
  /** What it shows, for whoever cannot see it. */
  readonly alt: string;
  readonly width: number;
  readonly height: number;
  readonly play: (chat: Chat) => Promise<void>;
}

/** One chat of the stand-in, with the adapter's calls. */
export class Chat {
  readonly #sim: Sim;
  readonly #clients: { readonly poster: BotClient; readonly caller: BotClient };
  #effects = 0;

  constructor(sim: Sim) {
    this.#sim = sim;
    const options = { apiRoot: sim.url, timeoutMs: 20_000 };
    this.#clients = {
      poster: new BotClient(sim.token, { ...options, reuse: false }),
      caller: new BotClient(sim.token, { ...options, reuse: true }),
    };
  }

  at(ms: number): void {
    this.#sim.clock.set(ms);
  }

  /** Posts a content; returns the reference of its last part. */
  async post(content: MessageContent, change: Partial<Perform> = {}): Promise<string> {
    return this.#perform({ op: "post", content, ...change });
  }

  async edit(reference: string, content: MessageContent): Promise<void> {
    await this.#perform({ op: "edit", content, reference, part: 1 });
  }

  says(person: number, text: string, chat = person): void {
    this.#sim.people.say(person, chat, text);
  }

  close(): void {
    this.#clients.poster.close();
    this.#clients.caller.close();
  }

  async #perform(change: Partial<Perform>): Promise<string> {
    this.#effects += 1;
    const perform: Perform = {
      type: "perform",
      effectId: `e-${this.#effects}`,
      attempt: 1,
      op: "post",
      destination: `telegram:default/${ANN}`,
      content: null,
      fromPart: 1,
      part: null,
      reference: null,
      replyTo: null,
      ...change,
    };
    const parts = perform.op === "post" ? partCount(perform) : 1;
    let reference = "";
    for (let part = 1; part <= parts; part += 1) {
      const sent = await sendPart(this.#clients, perform, part);
      if (sent.outcome !== "accepted") throw new Error(`${perform.op}: ${JSON.stringify(sent)}`);
      reference = sent.reference ?? reference;
    }
    return reference;
  }
}

const card = exampleCard();
const tokens = Object.fromEntries(card.choices.map(({ id }) => [id, `token-of-${id}`]));
const PENDING: CardState = { status: { kind: "pending" } };
const asked = (state: CardState = PENDING, model = card): MessageContent => ({
  kind: "card",
  card: model,
  state,
  tokens,
});
const settled = (state: CardState, model = card): MessageContent => ({ kind: "card", card: model, state });
const told = (reply: ReplyCode, change: Partial<Extract<MessageContent, { kind: "reply" }>> = {}): MessageContent => ({
  kind: "reply",
  reply,
  timeZone: "Europe/Berlin",
  prompt: null,
  ...change,
});

const APPROVED: CardState = {
  status: { kind: "chosen", provenance: "human", label: "Approve", by: "Ann", channel: "pi", at: NOON + 33 * MINUTE },
  story: { outcome: "completed", at: NOON + 39 * MINUTE, detail: "4.12.0 is live" },
};

const log = Array.from({ length: 600 }, (_, at) => `12:${String(at % 60).padStart(2, "0")} copied shard ${at} of 600`);
const long = exampleCard({
  title: "Continue after the warnings",
  presentation: {
    schema: "holdpoint.decision-presentation.v1",
    summary: "The migration of the search index ended with 3 warnings.",
    blocks: [
      { kind: "section", title: "Log" },
      ...[0, 1, 2].map((at) => ({ kind: "preformatted", text: log.slice(at * 200, (at + 1) * 200).join("\n") })),
    ],
  },
});

/** What an author writes is in the author's language; only the rest is the reader's. */
const GERMAN_WORDS = {
  choices: { approve: { label: "Freigeben" }, stop: { label: "Ablehnen" } },
  presentation: {
    schema: "holdpoint.decision-presentation.v1",
    summary: "shop-api 4.12.0 f\u00fcr den Laden",
    blocks: [
      {
        kind: "bullets",
        items: ["Drei Migrationen, alle umkehrbar", "Schl\u00fcssel des Zwischenspeichers umbenannt"],
      },
    ],
  },
};

export const SCENES: readonly Scene[] = [
  {
    name: "card",
    alt: "A card that waits, with three buttons, and the same card after the verdict and the end of the run",
    width: 450,
    height: 880,
    async play(chat) {
      chat.at(NOON);
      const first = await chat.post(asked());
      chat.at(NOON + 40 * MINUTE);
      await chat.edit(first, settled(APPROVED));
      await chat.post(asked(PENDING, exampleCard({ title: "Approve the rollback" })));
    },
  },
  {
    name: "text",
    alt: "A question for text under a card, its reply, and what was recorded",
    width: 450,
    height: 900,
    async play(chat) {
      chat.at(NOON);
      const first = await chat.post(asked());
      const prompt = {
        code: "promptText",
        label: "Replan",
        prompt: "What should change?",
        minLength: 1,
        maxLength: 200,
      } as const;
      await chat.post(told(prompt, { prompt: { placeholder: "Replan" } }), { replyTo: first });
      chat.at(NOON + 2 * MINUTE);
      chat.says(ANN, "use the blue pool");
      await chat.post(told({ code: "textAccepted", label: "Replan", text: "use the blue pool" }), { replyTo: first });
      const status = {
        kind: "chosen",
        provenance: "human",
        label: "Replan",
        text: "use the blue pool",
        by: "Ann",
        channel: "telegram:default",
        at: NOON + 2 * MINUTE,
      } as const;
      await chat.edit(first, settled({ status }));
    },
  },
  {
    name: "votes",
    alt: "A card in a group that needs two people, with one vote and a reminder, passed on to a second audience",
    width: 450,
    height: 870,
    async play(chat) {
      const destination = `telegram:default/${OPS}`;
      const state: CardState = {
        status: { kind: "pending" },
        votes: { need: 2, veto: ["Stop"], cast: [{ label: "Approve", by: ["Ann"] }] },
        notes: { escalated: { audience: "on-call", names: ["Cem"], cause: "silence", at: NOON + 45 * MINUTE } },
      };
      chat.at(NOON);
      const model = { ...card, audience: ["Ann", "Bea", "Cem"] };
      const first = await chat.post(asked(state, model), { destination });
      chat.at(NOON + 45 * MINUTE);
      const reminder = {
        code: "reminder",
        title: card.title,
        number: 2,
        last: false,
        askedAt: NOON,
        deadlineAt: NOON + 2 * HOUR,
        defaultLabel: "Stop",
        missing: ["Bea", "Cem"],
      } satisfies ReplyCode;
      await chat.post(told(reminder), { destination, replyTo: first });
    },
  },
  {
    name: "doubt",
    alt: "The question whether a card arrived in another chat, and a card that was sent again",
    width: 450,
    height: 740,
    async play(chat) {
      chat.at(NOON + MINUTE);
      const ids = { yes: "t-yes", resend: "t-resend", drop: "t-drop" };
      await chat.post(told({ code: "didArrive", title: card.title, chat: "Ops", at: NOON }, { tokens: ids }));
      await chat.post(asked({ status: { kind: "pending" }, notes: { possibleRepeatOf: NOON } }));
    },
  },
  {
    name: "offline",
    alt: "One list of the cards that wait, after the service was offline",
    width: 450,
    height: 690,
    async play(chat) {
      chat.at(NOON + 3 * MINUTE);
      const titles = [
        "Approve the deployment",
        "Rotate the keys",
        "Delete the old index",
        "Merge the plan",
        "Buy two servers",
        "Send the newsletter",
      ];
      const cards = titles.map((title, at) => ({
        id: `d-${at}`,
        title,
        fingerprint: `a91c4${at}`,
        ...(at === 3 ? { over: true as const } : {}),
      }));
      const digest = { code: "offlineDigest", from: NOON - 12 * MINUTE, to: NOON, cards, more: 0 } as const;
      await chat.post(told(digest, { tokens: Object.fromEntries(cards.map(({ id }) => [id, `t-${id}`])) }));
    },
  },
  {
    name: "document",
    alt: "A file with the whole log, and the card that names it",
    width: 450,
    height: 1300,
    async play(chat) {
      chat.at(NOON);
      const content = asked({ status: { kind: "pending" }, notes: { document: "sent" } }, long);
      await chat.post(content, { op: "document" });
      await chat.post(content);
    },
  },
  {
    name: "operator",
    alt: "The operator's commands: status, decisions with their buttons, and problems",
    width: 450,
    height: 930,
    async play(chat) {
      chat.at(NOON);
      chat.says(ANN, "/status");
      const run = { run: "7k3f", workflow: "deploy", title: "Deploy shop-api 4.12.0", status: "waiting" } as const;
      await chat.post(
        told({
          code: "serviceStatus",
          since: NOON - 3 * HOUR,
          channels: [{ channel: "telegram:default", state: "ready", lastPollAt: NOON }],
          runs: [
            { status: "waiting", count: 2 },
            { status: "running", count: 1 },
          ],
          decisions: 1,
          problems: 1,
          checks: { total: 3, troubled: 0, nextAt: NOON + 15 * MINUTE },
        }),
      );
      chat.says(ANN, "/decisions");
      const item = {
        item: 1,
        title: card.title,
        fingerprint: card.fingerprint,
        run: run.run,
        deadlineAt: NOON + 2 * HOUR,
      };
      await chat.post(
        told(
          { code: "decisionList", items: [item], from: 0, total: 1 },
          { buttons: [[{ action: "showAgain", item: 1 }]], tokens: { "1.showAgain": "t-again" } },
        ),
      );
      chat.says(ANN, "/problems");
      await chat.post(
        told({
          code: "problemList",
          items: [],
          actions: [{ id: "e-9f31c2", type: "deploy", run: "2m8q", at: NOON - HOUR }],
          runs: [],
          from: 0,
          total: 0,
        }),
      );
    },
  },
  {
    name: "alert",
    alt: "An alert with its buttons, the same one when it is over, and a list of many at once",
    width: 450,
    height: 800,
    async play(chat) {
      const name = { severity: "critical", subject: "shop.example", condition: "down", title: null } as const;
      const origin = { kind: "monitor", name: "shop-health" } as const;
      const lines = ["503 instead of 200 in 3 checks", "GET /health"];
      const lasting = { kind: "card", ...name, lines, origin, since: NOON, at: NOON, holds: true, changes: 1 } as const;
      const ids = { acknowledge: "t-ack", snooze: "t-snooze", repair: "t-repair" };
      const alert = (model: AlertModel, tokens?: Record<string, string>): MessageContent => ({
        kind: "alert",
        alert: model,
        timeZone: "Europe/Berlin",
        ...(tokens === undefined ? {} : { tokens }),
      });
      chat.at(NOON);
      const first = await chat.post(alert({ ...lasting, seen: 1, state: "open", repair: {} }, ids));
      chat.at(NOON + 27 * MINUTE);
      const until = NOON + 27 * MINUTE;
      const over = { ...lasting, at: until, seen: 14, state: "recovered", holds: false, until } as const;
      await chat.edit(first, alert({ ...over, acknowledged: { by: "Ann", at: NOON + 2 * MINUTE } }));
      const closing = {
        kind: "closing",
        ...name,
        over: null,
        lines: [],
        since: NOON,
        until,
        at: until,
        delivered: true,
        changes: 0,
      } as const;
      await chat.post(alert({ ...closing, lines: [] }), { replyTo: first });
      const members = ["api", "search", "mail", "billing", "images", "login"].map((subject) => ({
        ...name,
        subject: `${subject}.example`,
        state: "open" as const,
        acknowledged: false,
      }));
      chat.at(NOON + HOUR);
      await chat.post(alert({ kind: "digest", members, from: NOON + HOUR, at: NOON + HOUR }, ids));
    },
  },
  {
    name: "german",
    alt: "In German: a card that waits, one with its verdict and the end of the run, an alert and a list of two",
    width: 450,
    height: 1_170,
    async play(chat) {
      const german = (changes: Record<string, unknown> = {}): CardModel => ({
        ...exampleCard({ ...GERMAN_WORDS, ...changes }),
        language: "de",
      });
      chat.at(NOON);
      const first = await chat.post(asked(PENDING, german({ title: "shop-api 4.12.0 ausliefern?" })));
      chat.at(NOON + 40 * MINUTE);
      const status = { ...APPROVED.status, label: "Freigeben" } as CardState["status"];
      await chat.edit(first, settled({ ...APPROVED, status }, german({ title: "shop-api 4.12.0 ausliefern?" })));
      await chat.post(asked(PENDING, german({ title: "shop-api zur\u00fccknehmen?" })));
      const name = { severity: "critical", subject: "shop.example", condition: "down", title: null } as const;
      const alert = { timeZone: "Europe/Berlin", language: "de", kind: "alert" } as const;
      const ids = { acknowledge: "t-ack", snooze: "t-snooze" };
      const at = NOON + 50 * MINUTE;
      const lines = ["503 statt 200"];
      const origin = { kind: "monitor", name: "shop-health" } as const;
      const open = {
        kind: "card",
        ...name,
        lines,
        origin,
        since: at,
        at,
        seen: 1,
        state: "open",
        holds: true,
      } as const;
      await chat.post({ ...alert, alert: { ...open, changes: 1 }, tokens: ids });
      const members = ["api", "mail"].map((subject) => ({
        ...name,
        subject: `${subject}.example`,
        state: "open" as const,
        acknowledged: subject === "mail",
      }));
      chat.at(NOON + HOUR);
      await chat.post({
        ...alert,
        alert: { kind: "digest", members, from: NOON + HOUR, at: NOON + HOUR },
        tokens: ids,
      });
    },
  },
  {
    name: "report",
    alt: "A report that was written as Markdown",
    width: 450,
    height: 580,
    async play(chat) {
      chat.at(NOON);
      const message = [
        "# Nightly audit",
        "",
        "**Two** of 27 modules need a look, see [the log](https://ci.example/77).",
        "",
        "1. `billing` has no tests",
        "2. `search` has two:",
        "   - one is *skipped*",
        "   - one is slow",
        "",
        "> Nothing was changed.",
        "",
        "| module | state |",
        "|---|---|",
        "| billing | open |",
      ].join("\n");
      const notification = {
        level: "final",
        workflowName: "audit",
        title: "Audit of shop-api",
        runShortId: "7k3f",
        message,
        format: "markdown",
        at: NOON,
      } as const;
      await chat.post({ kind: "notification", notification, timeZone: "Europe/Berlin" });
    },
  },
];
