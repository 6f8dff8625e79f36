// Answers given in Pi: a card may be read before the view that tells of it is here, and an answer is not given long after the person gave it.
import { afterEach, beforeEach, expect, test } from "vitest";
import { Answering, type AnsweringHost } from "../../../adapters/pi/extension/answer/answering.ts";
import type { Actions } from "../../../adapters/pi/extension/actions.ts";
import type { CommandRequest } from "../../../adapters/pi/extension/commands/request.ts";
import { Life } from "../../../adapters/pi/extension/life.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import { exampleCard, NOON } from "../../decision/examples.ts";

const card = exampleCard();
const shown = {
  decisions: [
    {
      messageId: "m",
      decisionId: "decision-1",
      fingerprint: card.fingerprint,
      requestDigest: card.requestDigest,
      answerable: true,
      refusedBecause: null,
      shownAt: NOON,
      card,
      state: { status: { kind: "pending" } },
    },
  ],
} as unknown as SessionView;
const empty = { decisions: [] } as unknown as SessionView;

let life: Life;
let view: SessionView;
let asked: { choice?: string; withinMs?: number | undefined }[];
let answering: Answering;

beforeEach(() => {
  life = new Life();
  view = empty;
  asked = [];
  const host = {
    life,
    link: {
      whenLive: () => Promise.resolve(true),
      ask: (asking: { choice?: string }, withinMs?: number) => {
        asked.push({ ...asking, withinMs });
        return Promise.resolve({
          type: "reply",
          callId: "c",
          ok: true,
          text: "Approved.",
          code: "won",
          end: false,
          error: null,
        });
      },
    },
    service: { call: () => Promise.resolve({ decisions: [] }) },
    actions: {} as Actions,
    view: () => view,
    now: () => NOON,
    say: () => undefined,
  };
  answering = new Answering(host as unknown as AnsweringHost);
});
afterEach(() => life.end());

const line = (text: string): Promise<string> =>
  answering.line({ line: text, source: "interactive", context: {} } as unknown as CommandRequest);

function comes(next: SessionView): void {
  view = next;
  answering.see(next);
}

test("an answer that names a card which the view does not tell of yet waits for the next view", async () => {
  const said = line(`${card.fingerprint} approve`);
  comes(empty);
  comes(shown);
  expect(await said).toBe("Approved.");
  expect(asked).toMatchObject([{ choice: "approve", bare: false }]);
});

test("a line that names no decision waits too, and is judged by the time at which it was given", async () => {
  const bare = expect(line("approve")).rejects.toThrow(/only just appeared/);
  comes(shown);
  await bare;
  expect(asked).toEqual([]);
});

test("what no view tells of in time is refused", async () => {
  await expect(line(`${card.fingerprint} approve`)).rejects.toThrow(/No decision/);
  await expect(line("")).rejects.toThrow(/Nothing waits/);
});

test("an answer is given within seconds or not at all", async () => {
  view = shown;
  await line(`${card.fingerprint} approve`);
  expect(asked[0]?.withinMs).toBeLessThanOrEqual(5_000);
});
