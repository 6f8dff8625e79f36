/**
 * Alerts over the store under any order of reports, taps, bad sends and deaths of the server: when the faults are over, every chat tells what
 * is. No alert is lost, what is over can be pressed no more, a second copy says that it may be one, and no chat gets more than it takes.
 */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Chat, OPS, LOBBY, type Visible } from "../state/alerts/chat.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const KEYS = 8;

type Op =
  | { readonly op: "raise" | "recover"; readonly key: number }
  | { readonly op: "burst"; readonly count: number }
  | { readonly op: "press"; readonly message: number; readonly button: "acknowledge" | "snooze" }
  | { readonly op: "send"; readonly how: "accepted" | "notSent" | "429" | "lostAnswer" | "died" }
  | { readonly op: "die" }
  | { readonly op: "pass"; readonly ms: number };

const key = fc.integer({ min: 0, max: KEYS - 1 });
const op: fc.Arbitrary<Op> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ op: fc.constant("raise" as const), key }) },
  { weight: 4, arbitrary: fc.record({ op: fc.constant("recover" as const), key }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("burst" as const), count: fc.integer({ min: 3, max: KEYS }) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      op: fc.constant("press" as const),
      message: fc.nat({ max: 20 }),
      button: fc.constantFrom("acknowledge" as const, "snooze" as const),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      op: fc.constant("send" as const),
      how: fc.constantFrom("accepted", "accepted", "notSent", "429", "lostAnswer", "died"),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ op: "die" as const }) },
  {
    weight: 3,
    arbitrary: fc.record({ op: fc.constant("pass" as const), ms: fc.constantFrom(100, 5_000, MINUTE, 11 * MINUTE) }),
  },
) as fc.Arbitrary<Op>;

let adapters = 0;

class Story {
  readonly chat: Chat;
  readonly holds = new Map<number, boolean>();
  /** Effects whose message came to the chat although nobody heard of it. */
  readonly lost = new Map<string, string>();
  pressed = new Map<string, string>();

  constructor(chat: Chat) {
    this.chat = chat;
  }

  async apply(given: Op): Promise<void> {
    const { chat } = this;
    switch (given.op) {
      case "raise":
        await this.#raise(given.key);
        return;
      case "recover":
        await chat.recover({ audience: "both", groupKey: `k${given.key}` });
        if (this.holds.has(given.key)) this.holds.set(given.key, false);
        return;
      case "burst":
        for (let at = 0; at < given.count; at += 1) await this.#raise(at);
        return;
      case "press": {
        const message = chat.messages[given.message];
        if (message?.tokens[given.button] !== undefined) await chat.press(message, given.button);
        return;
      }
      case "send":
        return this.#send(given.how);
      case "die":
        adapters += 1;
        await chat.store.effects.adapterGone(chat.mine);
        await chat.openChannel(`adapter-${adapters}-again`);
        return;
      case "pass":
        await chat.pass(given.ms);
    }
  }

  async #raise(number: number): Promise<void> {
    await this.chat.raise({
      audience: "both",
      groupKey: `k${number}`,
      subject: `service-${number}`,
      watchFlapping: number % 2 === 0,
      lines: [`at ${this.chat.clock.at}`],
    });
    this.holds.set(number, true);
  }

  async #send(how: Extract<Op, { op: "send" }>["how"]): Promise<void> {
    const { chat } = this;
    const perform = await chat.next();
    if (perform === null) return;
    if (how === "accepted") return chat.show(perform);
    if (!(await chat.dispatch(perform, 1)).go) return;
    if (how === "notSent") await chat.finish(perform, "notSent");
    else if (how === "429") await chat.finish(perform, "rejected", { retryAfterMs: 30_000 });
    else {
      const place = perform.destination.split("/")[1] as string;
      const reference = perform.reference ?? chat.reference(place);
      chat.see(perform, reference);
      if (perform.op === "post") this.lost.set(perform.effectId, reference);
      if (how === "died") return this.apply({ op: "die" });
      await chat.finish(perform, "ambiguous");
    }
  }

  /** The faults are over: an operator settles what nobody knows, and time passes. */
  async heal(): Promise<void> {
    const { chat, lost } = this;
    for (const { effectId, status } of chat.store.read.effects.list({ all: false })) {
      if (status !== "ambiguous") continue;
      const reference = lost.get(effectId)?.split(":")[1] ?? null;
      const actor = { type: "human", id: "uid:1" } as const;
      await chat.store.effects.recover({
        effect: effectId,
        action: "confirm",
        part: null,
        reference,
        receipt: null,
        actor,
      });
    }
    await chat.pass(3 * HOUR);
  }
}

/** What a chat says about one service, by its newest message that names it. */
function standOf(messages: readonly Visible[], service: string): Visible | undefined {
  return messages.findLast(({ text }) => new RegExp(`${service}\\b`).test(text));
}

describe("alerts over a store that dies and a chat that fails", () => {
  it("end with chats that tell what is", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 5, maxLength: 60 }), async (ops) => {
        const chat = await Chat.open();
        const story = new Story(chat);
        for (const given of ops) await story.apply(given);
        await story.heal();
        expect(chat.store.read.effects.list({ all: false })).toEqual([]);
        for (const [number, holds] of story.holds) {
          const view = chat.store.read.alerts.get(`k${number}`);
          expect([view.holds, view.state]).toEqual([holds, holds ? "open" : "recovered"]);
          for (const place of [OPS, LOBBY]) {
            const told = chat.in(place);
            const last = standOf(told, `service-${number}`);
            if (holds) expect(last?.text).toMatch(new RegExp(`service-${number} is down`));
            else expectOver(told, `service-${number}`);
          }
        }
        for (const message of chat.messages)
          if (!message.text.includes("is down") && !message.text.includes("alerts")) expect(message.tokens).toEqual({});
        expect((await chat.store.verify()).problems).toEqual([]);
        for (const { at, op: kind, place } of chat.calls) {
          const near = chat.calls.filter((call) => call.place === place && call.at >= at && call.at < at + MINUTE);
          expect(`${kind}: ${near.length <= 20}`).toBe(`${kind}: true`);
        }
        chat.store.close();
      }),
      { numRuns: Number(process.env["HOLDPOINT_ALERT_RUNS"] ?? 30) },
    );
  });
});

/** Nothing about it can be pressed alone, and the newest message about it, or the end of its list, says that it is over. */
function expectOver(told: readonly Visible[], service: string): void {
  for (const message of told.filter(({ text }) => text.split("\n")[0]?.includes(service)))
    expect(message.tokens).toEqual({});
  const last = standOf(told, service);
  expect(last?.text).toMatch(new RegExp(`\u{1F7E2} ${service}\\b`, "u"));
}
