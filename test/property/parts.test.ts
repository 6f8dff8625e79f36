// Every card that can be split can be settled: whatever text and whatever state, the parts stay the same messages.

import fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  cardStateSchema,
  cutBody,
  inert,
  isForDocument,
  layoutBody,
  partsProblem,
  type CardModel,
} from "../../src/contracts/decision/index.ts";
import { LANGUAGES } from "../../src/contracts/language.ts";
import { DECISION, TELEGRAM } from "../../src/contracts/limits.ts";
import { bodyOf, renderCard, renderDocument, renderReply, wordsIn } from "../../renderers/telegram/index.ts";
import { displayWidth, renderTerminalCard } from "../../renderers/terminal/index.ts";
import { replyCodeSchema, type ReplyCode } from "../../src/contracts/decision/index.ts";
import { NOON } from "../decision/examples.ts";
import { card, smallCard, state, text } from "./arbitrary.ts";

const RUNS = { numRuns: 150 };
const wellFormed = (value: string): boolean => !/\p{Surrogate}/u.test(value);
const PENDING = { status: { kind: "pending" } } as const;

/** Everything a presentation says, in reading order. */
function saidIn({ presentation }: CardModel): string[] {
  const inBlocks = presentation.blocks.flatMap((block) => {
    if (block.kind === "section") return [inert(block.title)];
    if (block.kind === "bullets") return block.items.map((item) => inert(item));
    if (block.kind === "fields") return block.items.flatMap(({ label, value }) => [inert(label), inert(value)]);
    return [inert(block.text, { lines: true })];
  });
  return [inert(presentation.summary), ...inBlocks];
}

describe("parts", () => {
  test("the generated states are states that travel, so nothing here is vacuous", () => {
    const seen = new Set<string>();
    fc.assert(
      fc.property(state, (value) => {
        const travelled: unknown = JSON.parse(JSON.stringify(value));
        seen.add(cardStateSchema.parse(travelled).status.kind);
      }),
    );
    expect([...seen].sort()).toEqual(["cancelled", "chosen", "expired", "pending", "superseded"]);
  });

  test("reassemble to the exact text, which holds all that the presentation says, in order", () => {
    const counts = new Set<number>();
    fc.assert(
      fc.property(card, state, (model, how) => {
        const parts = renderCard(model, how);
        counts.add(parts.length);
        const body = bodyOf(parts);
        expect(body).toBe(layoutBody(model).text);
        let from = 0;
        for (const said of saidIn(model)) {
          const found = body.indexOf(said, from);
          expect(found).toBeGreaterThanOrEqual(from);
          from = found + said.length;
        }
      }),
      RUNS,
    );
    expect(Math.max(...counts)).toBeGreaterThan(5);
    expect(counts.has(1)).toBe(true);
  });

  test("are at most 4,096 units each, without half a surrogate pair, with marks inside their text", () => {
    fc.assert(
      fc.property(card, state, (model, how) => {
        for (const part of renderCard(model, how)) {
          expect(part.text.length).toBeLessThanOrEqual(TELEGRAM.messageUnits);
          expect(wellFormed(part.text)).toBe(true);
          for (const { length, offset } of part.entities) {
            expect(length).toBeGreaterThan(0);
            expect(offset + length).toBeLessThanOrEqual(part.text.length);
            expect(wellFormed(part.text.slice(offset, offset + length))).toBe(true);
          }
        }
      }),
      RUNS,
    );
  });

  test("are as many, with the same piece of the body, in every state; those between first and last never change", () => {
    fc.assert(
      fc.property(card, state, (model, how) => {
        const before = renderCard(model, PENDING);
        const after = renderCard(model, how);
        expect(after.length).toBe(before.length);
        for (const [index, part] of after.entries()) {
          const earlier = before[index] as (typeof before)[number];
          const piece = ({ body, text: all }: typeof earlier): string =>
            all.slice(body.offset, body.offset + body.length);
          expect(piece(part)).toBe(piece(earlier));
          if (index > 0 && index < after.length - 1) expect(part).toEqual(earlier);
        }
      }),
      RUNS,
    );
  });

  test("are one beside a document: with the beginning of the text, whatever the state, and the document has all of it", () => {
    let cut = 0;
    fc.assert(
      fc.property(card, state, fc.constantFrom("sent", "unconfirmed", "failed"), (model, how, document) => {
        const body = layoutBody(model).text;
        const [pending, settled] = [PENDING, how].map((one) => {
          const [part, ...more] = renderCard(model, { ...one, notes: { ...how.notes, document } });
          expect(more).toEqual([]);
          return part as NonNullable<typeof part>;
        });
        const beginning = bodyOf(pending === undefined ? [] : [pending]);
        expect(body.startsWith(beginning)).toBe(true);
        if (beginning !== body) cut += 1;
        expect(bodyOf(settled === undefined ? [] : [settled])).toBe(beginning);
        for (const part of [pending, settled]) {
          expect(part?.text.length).toBeLessThanOrEqual(TELEGRAM.messageUnits);
          expect(wellFormed(part?.text ?? "")).toBe(true);
          expect(part?.text).toContain(
            document === "sent" ? `${model.fingerprint}.txt` : `: holdpoint decisions ${model.fingerprint}`,
          );
        }
        const whole = renderDocument(model).text;
        expect(whole).toContain(body);
        expect(inert(whole, { lines: true })).toBe(whole);
      }),
      RUNS,
    );
    expect(cut).toBeGreaterThan(0);
  });

  test("are replaced by a document exactly where they would be more than five, but for what is kept out of chats", () => {
    fc.assert(
      fc.property(card, (model) => {
        const many = cutBody(layoutBody(model)).length > DECISION.messageParts;
        expect(isForDocument(model)).toBe(many && model.presentation.sensitive !== true);
      }),
      RUNS,
    );
  });

  test("of an accepted card are at most 20, and a card with more is the one that is refused", () => {
    let [accepted, refused] = [0, 0];
    fc.assert(
      fc.property(card, (model) => {
        const body = layoutBody(model);
        const count = renderCard(model, PENDING).length;
        expect(count).toBe(cutBody(body).length);
        if (partsProblem(body) === undefined) {
          accepted += 1;
          expect(count).toBeLessThanOrEqual(DECISION.transportParts);
        } else {
          refused += 1;
          expect(partsProblem(body)).toMatchObject({ limit: DECISION.transportParts, seen: count });
        }
      }),
      RUNS,
    );
    expect(accepted).toBeGreaterThan(0);
    expect(refused).toBeGreaterThan(0);
  });

  test("begin with title and status line, and only the last has buttons, one for each choice", () => {
    fc.assert(
      fc.property(card, state, (model, how) => {
        const parts = renderCard(model, how);
        const { partOf } = wordsIn(model.language);
        for (const part of parts) {
          const first = part.text.slice(0, part.text.indexOf("\n"));
          expect(first.length).toBeLessThanOrEqual(TELEGRAM.statusUnits);
          if (part.of > 1)
            expect(first.endsWith(` \u00b7 ${partOf(part.index, part.of)} \u00b7 ${model.fingerprint}`)).toBe(true);
          if (part.index < part.of) expect(part.buttons).toEqual([]);
        }
        const buttons = parts.at(-1)?.buttons.flat() ?? [];
        if (how.status.kind === "pending") {
          expect(buttons.map(({ choice }) => choice)).toEqual(model.choices.map(({ id }) => id));
        } else expect(buttons.every(({ choice, disabled }) => choice === null && disabled === true)).toBe(true);
        for (const { label } of buttons) {
          expect(label.length).toBeGreaterThan(0);
          expect(label.length).toBeLessThanOrEqual(DECISION.labelUnits);
          expect(wellFormed(label)).toBe(true);
        }
      }),
      RUNS,
    );
  });

  test("a label that a button cannot hold stands whole in the card", () => {
    fc.assert(
      fc.property(card, (model) => {
        const body = layoutBody(model).text;
        for (const { label } of model.choices) {
          if (inert(label).trim().length > TELEGRAM.buttonUnits) expect(body).toContain(inert(label));
        }
      }),
      RUNS,
    );
  });

  test("what a pending card says stays when it is settled, but for the hint how long is left", () => {
    fc.assert(
      fc.property(card, state, (model, how) => {
        const { notes } = how;
        const before = renderCard(model, notes === undefined ? PENDING : { ...PENDING, notes }).at(-1)?.text ?? "";
        const after = renderCard(model, how).at(-1)?.text ?? "";
        const footer = before.slice(before.lastIndexOf("\n\n")).split("\n");
        for (const line of footer)
          expect(after).toContain(how.status.kind === "pending" ? line : line.replace(/ \(in [^)]*\)/, ""));
      }),
      RUNS,
    );
  });

  test("a cut stands before white space, because chats drop it at the end of a message", () => {
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom("line of text", "", "\u{1F600} more", "x".repeat(900)), {
          minLength: 30,
          maxLength: 80,
        }),
        (lines) => {
          const model = { ...exampleOf(lines.join("\n")) };
          for (const part of renderCard(model, PENDING).slice(0, -1)) expect(part.text).toBe(part.text.trimEnd());
        },
      ),
      RUNS,
    );
  });
});

function exampleOf(paragraph: string): CardModel {
  const [model] = fc.sample(card, { numRuns: 1, seed: 7 });
  return {
    ...(model as CardModel),
    presentation: {
      schema: "holdpoint.decision-presentation.v1",
      summary: "s",
      blocks: [{ kind: "paragraph", text: paragraph.slice(0, DECISION.stringUnits) }],
    },
  };
}

test("the card of telegram's T17: no lone surrogate at 4,096, everything reachable", () => {
  const emoji = "\u{1F600}";
  for (const long of [emoji.repeat(2_049) + "tail", emoji.repeat(4_096), `x${emoji.repeat(4_096)}`]) {
    const model = exampleOf(long);
    const parts = renderCard(model, PENDING);
    expect(parts.length).toBeGreaterThan(1);
    expect(bodyOf(parts)).toContain(long);
    for (const part of parts) expect(wellFormed(part.text)).toBe(true);
  }
});

test("every reply fits into one message and every toast is inert, whatever the values", () => {
  fc.assert(
    fc.property(text({ lines: true }), fc.string({ unit: "binary" }), (long, wild) => {
      const values: ReplyCode[] = [
        { code: "chosen", label: wild },
        { code: "textAccepted", label: long, text: wild },
        { code: "alreadyDecided", label: wild, by: long, at: NOON },
        { code: "unknownChoice", given: long, labels: [wild, long] },
        { code: "promptText", label: wild, prompt: long.slice(0, DECISION.promptUnits), minLength: 1, maxLength: 9 },
        { code: "unknownCommand", given: wild, nearest: long },
        { code: "cancelled", by: wild, at: NOON, reason: long },
        {
          code: "outcome",
          title: long,
          fingerprint: "a91c4e",
          status: { kind: "cancelled", at: NOON, by: wild, reason: long },
        },
        {
          code: "channelStatus",
          channel: wild,
          waiting: 3,
          queued: 1,
          doubtful: Array.from({ length: 50 }, () => ({ id: wild, title: long, at: NOON })),
        },
        { code: "recoverRefused", given: long, reason: "unknown" },
        { code: "wrongChannel", channels: [wild, long] },
        {
          code: "reminder",
          title: wild,
          number: 3,
          last: true,
          askedAt: NOON,
          deadlineAt: NOON,
          defaultLabel: long,
          missing: [wild, long],
        },
        { code: "escalated", audience: wild, names: [wild, long], cause: "silence", askedAt: NOON, at: NOON },
      ];
      for (const [value, language] of values.flatMap((one) => LANGUAGES.map((spoken) => [one, spoken] as const))) {
        const code = replyCodeSchema.parse(value);
        const { entities, text: shown } = renderReply(code, { timeZone: "Europe/Berlin", language, reference: NOON });
        expect(shown.length).toBeLessThanOrEqual(TELEGRAM.messageUnits);
        expect(inert(shown, { lines: true })).toBe(shown);
        for (const { length, offset } of entities) expect(offset + length).toBeLessThanOrEqual(shown.length);
      }
    }),
    RUNS,
  );
});

test("a terminal card never exceeds its width, never moves the cursor, and boxes are straight", () => {
  fc.assert(
    fc.property(smallCard, state, fc.integer({ min: 20, max: 120 }), fc.boolean(), (model, how, columns, plain) => {
      const lines = renderTerminalCard(model, how, { columns, plain, answer: { command: "/workflow answer" } });
      for (const line of lines) {
        expect(displayWidth(line)).toBeLessThanOrEqual(columns);
        expect(inert(line)).toBe(line);
        if (!plain && columns >= 40) expect(displayWidth(line)).toBe(columns);
      }
      expect(lines.join("\n")).toContain(model.fingerprint);
    }),
    RUNS,
  );
});
