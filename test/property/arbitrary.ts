// Hostile and ordinary texts, presentations, cards and states for property tests.

import fc from "fast-check";

import type { CardModel, CardState, PresentationBlock } from "../../src/contracts/decision/index.ts";
import { LANGUAGES } from "../../src/contracts/language.ts";
import { DECISION } from "../../src/contracts/limits.ts";
import { exampleCard, HOUR, NOON } from "../decision/examples.ts";

const FRAGMENTS = [
  "a",
  " ",
  "word ",
  "\u{1F600}",
  "\u{1F468}\u200d\u{1F469}\u200d\u{1F467}",
  "\u{1F1E9}\u{1F1EA}",
  "e\u0301",
  "\u0301",
  "\u202e",
  "\u200b",
  "\u{E0041}",
  "\u4e2d\u6587",
  "\u05e9\u05dc",
  "<b>&_*[x](http://evil)",
  "\u00a0",
  "\u2028",
  "`",
  "\u2022 ",
  "\ufe0f",
];
const BREAKS = ["\n", "\n\n", "\t", "  \n", "\n\n\n\n"];

/** Valid text of the presentation's rules: no controls, but everything else that is nasty; long ones by repetition. */
export function text(options: { lines: boolean; max?: number }): fc.Arbitrary<string> {
  const pieces = options.lines ? [...FRAGMENTS, ...BREAKS] : FRAGMENTS;
  return fc
    .tuple(
      fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 12 }),
      fc.constantFrom(1, 1, 1, 7, 400, 2_000),
    )
    .map(([parts, times]) => cleanCut(parts.join("").repeat(times), options.max ?? DECISION.stringUnits));
}

/** The same, short: for what is slow per character. */
const shortLine = fc
  .array(fc.constantFrom(...FRAGMENTS), { minLength: 1, maxLength: 40 })
  .map((parts) => cleanCut(parts.join(""), 400));

/** At most `units`, without half a pair at the end, and never blank. */
function cleanCut(value: string, units: number): string {
  const cut = value.slice(0, units).replace(/[\ud800-\udbff]$/, "");
  return cut.trim() === "" ? `x${cut.slice(1)}` : cut;
}

const line = text({ lines: false, max: 3_000 });
const paragraph = text({ lines: true });
const blockOf = (words: fc.Arbitrary<string>, lines: fc.Arbitrary<string>): fc.Arbitrary<PresentationBlock> =>
  fc.oneof(
    fc.record({ kind: fc.constant("paragraph" as const), text: lines }),
    fc.record({ kind: fc.constant("preformatted" as const), text: lines }),
    fc.record({ kind: fc.constant("section" as const), title: words }),
    fc.record({ kind: fc.constant("bullets" as const), items: fc.array(words, { maxLength: 5 }) }),
    fc.record({
      kind: fc.constant("fields" as const),
      items: fc.array(fc.record({ label: words, value: words }), { maxLength: 4 }),
    }),
  );
const block = fc.oneof(
  { weight: 5, arbitrary: blockOf(line, paragraph) },
  // Valid text that grows eightfold when it is made visible: the way to too many parts.
  { weight: 1, arbitrary: fc.constant({ kind: "paragraph" as const, text: "\u202e".repeat(12_000) }) },
);
const smallBlock = blockOf(
  shortLine,
  fc.array(fc.oneof(shortLine, fc.constantFrom(...BREAKS)), { maxLength: 6 }).map((parts) => parts.join("")),
);

const choices = fc
  .array(fc.record({ label: text({ lines: false, max: DECISION.labelUnits }), hasInput: fc.boolean() }), {
    minLength: 1,
    maxLength: DECISION.choices,
  })
  .map((list) => list.map((choice, index) => ({ ...choice, id: `c${index}` })));

const cardWith = (blocks: fc.Arbitrary<PresentationBlock>): fc.Arbitrary<CardModel> =>
  fc
    .record({
      title: text({ lines: false, max: DECISION.titleUnits }),
      summary: line,
      blocks: fc.array(blocks, { maxLength: 6 }),
      choices,
      workflowName: text({ lines: false, max: 200 }),
      defaultLabel: fc.option(text({ lines: false, max: DECISION.labelUnits }), { nil: undefined }),
      hours: fc.option(fc.integer({ min: 1, max: 5_000 }), { nil: undefined }),
      language: fc.constantFrom(...LANGUAGES),
    })
    .map(({ blocks: list, defaultLabel, hours, summary, ...rest }) => ({
      ...without(exampleCard(), ["deadlineAt", "defaultLabel"]),
      ...rest,
      presentation: { schema: "holdpoint.decision-presentation.v1" as const, summary, blocks: list },
      ...(hours === undefined ? {} : { deadlineAt: NOON + hours * HOUR }),
      ...(defaultLabel === undefined ? {} : { defaultLabel }),
    }));

/** Cards of any size; some need more parts than are allowed. */
export const card = cardWith(block);
export const smallCard = cardWith(smallBlock);

function without<T extends object, K extends keyof T>(value: T, keys: readonly K[]): Omit<T, K> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key as K))) as Omit<T, K>;
}

// Names, reasons and details come from channels and workflows: any string at all, also control characters and broken pairs.
const wild = fc.oneof(
  text({ lines: true, max: 4_000 }),
  fc.string({ unit: "binary", maxLength: 60 }),
  fc.constant("\u0000\u001b[2J\u202e\ud83d".repeat(80)),
);
const at = fc.integer({ min: NOON, max: NOON + 6_000 * HOUR });
const maybe = <T>(of: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(of, { nil: undefined });

const status = fc.oneof(
  fc.record({ kind: fc.constant("pending" as const) }),
  fc.record({
    kind: fc.constant("chosen" as const),
    provenance: fc.constantFrom("human" as const, "timeout_policy" as const),
    label: text({ lines: false, max: DECISION.labelUnits }),
    text: maybe(wild),
    by: maybe(wild),
    channel: maybe(fc.oneof(fc.constantFrom("pi", "telegram:ops", "terminal"), wild)),
    assurance: maybe(fc.constantFrom("remote" as const, "local" as const)),
    at,
    graceAfterOutage: maybe(fc.boolean()),
  }),
  fc.record({ kind: fc.constant("expired" as const), at }),
  fc.record({ kind: fc.constant("cancelled" as const), at, by: maybe(wild), reason: maybe(wild) }),
  fc.record({ kind: fc.constant("superseded" as const), at }),
);

const rawState = fc.record({
  status,
  notes: maybe(
    fc.record({
      possibleRepeatOf: maybe(at),
      offeredAgain: maybe(fc.record({ from: at, to: at })),
      shownAgain: maybe(at),
      sourceChanged: maybe(fc.boolean()),
      escalated: maybe(
        fc.record({
          audience: wild,
          names: fc.array(wild, { maxLength: 12 }),
          cause: fc.constantFrom("silence" as const, "undeliverable" as const, "noQuorum" as const),
          at,
        }),
      ),
    }),
  ),
  votes: maybe(
    fc.record({
      need: fc.integer({ min: 2, max: 100 }),
      veto: fc.array(wild, { maxLength: 8 }),
      cast: fc.array(fc.record({ label: wild, by: fc.array(wild, { minLength: 1, maxLength: 12 }) }), { maxLength: 8 }),
      everybodyVoted: maybe(fc.boolean()),
    }),
  ),
  story: maybe(
    fc.record({
      outcome: fc.constantFrom(
        "completed" as const,
        "failed" as const,
        "timed_out" as const,
        "cancelled" as const,
        "parked" as const,
      ),
      at,
      detail: maybe(wild),
    }),
  ),
});

/** Every state a card can be in, with every note and the end of the story. */
export const state: fc.Arbitrary<CardState> = rawState;
