// A presentation is normalized and bounded before anything becomes pending; the error names the limit and the value.

import { describe, expect, test } from "vitest";

import {
  normalizePresentation,
  presentationSchema,
  type PresentationBlock,
} from "../../../src/contracts/decision/index.ts";
import { DECISION } from "../../../src/contracts/limits.ts";

const ours = "holdpoint.decision-presentation.v1";

function authored(blocks: unknown[] = [], summary: unknown = "What it is"): Record<string, unknown> {
  return { schema: ours, summary, blocks };
}

function refusal(value: unknown): { message: string; details: Record<string, unknown> | undefined } {
  try {
    normalizePresentation(value);
  } catch (error) {
    expect(error).toMatchObject({ name: "HoldpointError", kind: "presentationInvalid", code: "HP305" });
    return error as never;
  }
  throw new Error("nothing was refused");
}

describe("normalization", () => {
  test("an authored pi-workflows schema id is stored as ours", () => {
    const stored = normalizePresentation({ ...authored(), schema: "pi-workflows.decision-presentation.v1" });
    expect(stored.schema).toBe(ours);
    expect(presentationSchema.safeParse({ ...stored, schema: "pi-workflows.decision-presentation.v1" }).success).toBe(
      false,
    );
  });

  test("CR LF and CR become LF, and nothing else changes", () => {
    const stored = normalizePresentation(authored([{ kind: "paragraph", text: " a\r\nb\rc\n\td " }]));
    expect(stored.blocks).toEqual([{ kind: "paragraph", text: " a\nb\nc\n\td " }]);
  });

  test("normalizing twice changes nothing", () => {
    const once = normalizePresentation(authored([{ kind: "preformatted", text: "x\r\ny" }]));
    expect(normalizePresentation(once)).toEqual(once);
    expect(presentationSchema.parse(once)).toEqual(once);
  });

  test("an empty paragraph is allowed, and so are no blocks", () => {
    expect(normalizePresentation(authored([{ kind: "paragraph", text: "" }])).blocks).toHaveLength(1);
    expect(normalizePresentation(authored()).blocks).toEqual([]);
  });
});

describe("every limit names itself and the value seen", () => {
  const long = "x".repeat(DECISION.stringUnits + 1);
  test.each<[string, unknown, string, { limit: number; seen: number }]>([
    [
      "blocks",
      authored(Array.from({ length: 257 }, () => ({ kind: "section", title: "t" }))),
      "presentation.blocks has 257 blocks; the limit is 256.",
      { limit: 256, seen: 257 },
    ],
    [
      "bullets",
      authored([{ kind: "bullets", items: Array.from({ length: 300 }, () => "x") }]),
      "presentation.blocks[0].items has 300 items; the limit is 256.",
      { limit: 256, seen: 300 },
    ],
    [
      "fields",
      authored([
        { kind: "section", title: "t" },
        { kind: "fields", items: Array.from({ length: 257 }, () => ({ label: "l", value: "v" })) },
      ]),
      "presentation.blocks[1].items has 257 items; the limit is 256.",
      { limit: 256, seen: 257 },
    ],
    [
      "one string",
      authored([{ kind: "paragraph", text: long }]),
      "presentation.blocks[0].text has 16001 UTF-16 units; the limit is 16000.",
      { limit: 16_000, seen: 16_001 },
    ],
    [
      "a value",
      authored([{ kind: "fields", items: [{ label: "l", value: long }] }]),
      "presentation.blocks[0].items[0].value has 16001 UTF-16 units; the limit is 16000.",
      { limit: 16_000, seen: 16_001 },
    ],
    [
      "the total, in UTF-16 units",
      authored(Array.from({ length: 4 }, () => ({ kind: "paragraph", text: "\u{1F600}".repeat(8_000) }))),
      "presentation has 64010 UTF-16 units in total; the limit is 64000.",
      { limit: 64_000, seen: 64_010 },
    ],
  ])("%s", (_name, value, message, details) => {
    const refused = refusal(value);
    expect(refused.message).toBe(message);
    expect(refused.details).toMatchObject(details);
  });

  test("values on the limit pass", () => {
    const blocks: PresentationBlock[] = [
      { kind: "bullets", items: Array.from({ length: 256 }, () => "x") },
      { kind: "paragraph", text: "x".repeat(16_000) },
    ];
    expect(normalizePresentation(authored(blocks)).blocks).toEqual(blocks);
  });
});

describe("what is invalid", () => {
  test.each<[string, unknown, string]>([
    ["no object", null, "presentation is null"],
    ["an unknown schema", { ...authored(), schema: "x.v1" }, 'presentation.schema is "x.v1"'],
    ["an unknown field", { ...authored(), extra: 1 }, 'presentation has the unknown field "extra"'],
    [
      "an unknown field of a block",
      authored([{ kind: "section", title: "t", level: 2 }]),
      'blocks[0] has the unknown field "level"',
    ],
    ["an unknown kind", authored([{ kind: "table", rows: [] }]), 'presentation.blocks[0].kind is "table"'],
    ["a missing text", authored([{ kind: "paragraph" }]), "presentation.blocks[0].text is missing"],
    ["a missing summary", { schema: ours, blocks: [] }, "presentation.summary is missing"],
    ["a number as item", authored([{ kind: "bullets", items: ["a", 7] }]), "presentation.blocks[0].items[1] is 7"],
    ["a blank summary", authored([], " \u00a0 "), "presentation.summary is empty"],
    ["a blank title", authored([{ kind: "section", title: " " }]), "blocks[0].title is empty"],
    ["a blank item", authored([{ kind: "bullets", items: [""] }]), "items[0] is empty"],
    ["a blank label", authored([{ kind: "fields", items: [{ label: "", value: "v" }] }]), "items[0].label is empty"],
    ["a blank value", authored([{ kind: "fields", items: [{ label: "l", value: "\t" }] }]), "items[0].value is empty"],
    ["NUL", authored([{ kind: "paragraph", text: "a\u0000b" }]), "has the control character U+0000 at unit 1"],
    ["ESC", authored([{ kind: "preformatted", text: "\u001b[2J" }]), "has the control character U+001B at unit 0"],
    ["a C1 control", authored([], "a\u009b31m"), "presentation.summary has the control character U+009B"],
    ["DEL", authored([], "a\u007f"), "has the control character U+007F"],
    ["LF in a title", authored([{ kind: "section", title: "a\nb" }]), "has the control character U+000A at unit 1"],
    ["CR LF in a summary", authored([], "a\r\nb"), "has the control character U+000A at unit 1"],
    ["tab in an item", authored([{ kind: "bullets", items: ["a\tb"] }]), "has the control character U+0009"],
    ["half of a surrogate pair", authored([], "a\ud83d"), "has half of a surrogate pair"],
  ])("%s", (_name, value, message) => {
    expect(refusal(value).message).toContain(message);
  });
});
