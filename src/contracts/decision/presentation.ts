// What a person is shown for a decision: a summary and blocks of plain text, the same for every channel.

import { z } from "zod";

import { DECISION } from "../limits.ts";
import { parseShape, problemError, type Problem } from "./issues.ts";
import { normalizeLineEnds, textProblem, type TextRule } from "./text.ts";

export const PRESENTATION_SCHEMA = "holdpoint.decision-presentation.v1";
/** Accepted when a workflow is authored, stored as ours. */
const EARLIER_SCHEMA = "pi-workflows.decision-presentation.v1";

const blockSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("paragraph"), text: z.string() }),
  z.strictObject({ kind: z.literal("section"), title: z.string() }),
  z.strictObject({ kind: z.literal("bullets"), items: z.array(z.string()) }),
  z.strictObject({
    kind: z.literal("fields"),
    items: z.array(z.strictObject({ label: z.string(), value: z.string() })),
  }),
  z.strictObject({ kind: z.literal("preformatted"), text: z.string() }),
]);
export type PresentationBlock = z.infer<typeof blockSchema>;

const shape = z.strictObject({
  schema: z.literal(PRESENTATION_SCHEMA),
  summary: z.string(),
  blocks: z.array(blockSchema),
  /** Chats get the title and the choices only; the rest is shown on the server's own terminal. Absent = everything goes out. */
  sensitive: z.literal(true).optional(),
});
export type Presentation = z.infer<typeof shape>;

/** A normalized presentation with every limit checked; what is stored and what travels. */
export const presentationSchema = shape.superRefine((presentation, context) => {
  const problem = presentationProblem(presentation);
  if (problem !== undefined) context.addIssue({ code: "custom", message: problem.text, path: [...problem.path] });
});

const authoredShape = shape.extend({
  schema: z.enum([PRESENTATION_SCHEMA, EARLIER_SCHEMA]),
  sensitive: z.boolean().optional(),
});

/**
 * The stored form of an authored presentation: our schema id, LF line ends, every limit checked. Nothing is trimmed
 * or shortened. Normalizing twice changes nothing.
 *
 * @throws HoldpointError `presentationInvalid` with the place, the limit and the value seen.
 */
export function normalizePresentation(authored: unknown): Presentation {
  const given = parseShape(authoredShape, authored, "presentation");
  const presentation: Presentation = {
    schema: PRESENTATION_SCHEMA,
    summary: normalizeLineEnds(given.summary),
    blocks: given.blocks.map(normalizeBlock),
    ...(given.sensitive === true ? { sensitive: true } : {}),
  };
  const problem = presentationProblem(presentation);
  if (problem !== undefined) throw problemError("presentation", problem);
  return presentation;
}

function normalizeBlock(block: PresentationBlock): PresentationBlock {
  switch (block.kind) {
    case "paragraph":
    case "preformatted":
      return { kind: block.kind, text: normalizeLineEnds(block.text) };
    case "section":
      return { kind: "section", title: normalizeLineEnds(block.title) };
    case "bullets":
      return { kind: "bullets", items: block.items.map(normalizeLineEnds) };
    case "fields":
      return {
        kind: "fields",
        items: block.items.map(({ label, value }) => ({
          label: normalizeLineEnds(label),
          value: normalizeLineEnds(value),
        })),
      };
  }
}

const LINE: TextRule = { lines: false, units: DECISION.stringUnits, filled: true };
const LINES: TextRule = { lines: true, units: DECISION.stringUnits, filled: false };

function presentationProblem(presentation: Presentation): Problem | undefined {
  const { blocks, summary } = presentation;
  if (blocks.length > DECISION.blocks) {
    const [seen, limit] = [blocks.length, DECISION.blocks];
    return { path: ["blocks"], text: `has ${seen} blocks; the limit is ${limit}`, limit, seen };
  }
  for (const [index, block] of blocks.entries()) {
    if (!("items" in block)) continue;
    const [seen, limit] = [block.items.length, DECISION.itemsPerBlock];
    const path = ["blocks", index, "items"];
    if (seen > limit) return { path, text: `has ${seen} items; the limit is ${limit}`, limit, seen };
  }
  let units = 0;
  for (const { text, rule, path } of texts(presentation)) {
    const problem = textProblem(text, rule, path);
    if (problem !== undefined) return problem;
    units += text.length;
  }
  if (units <= DECISION.presentationUnits) return undefined;
  const limit = DECISION.presentationUnits;
  return { path: [], text: `has ${units} UTF-16 units in total; the limit is ${limit}`, limit, seen: units };

  function* texts({ blocks }: Presentation): Generator<{ text: string; rule: TextRule; path: Problem["path"] }> {
    yield { text: summary, rule: LINE, path: ["summary"] };
    for (const [index, block] of blocks.entries()) {
      const path = ["blocks", index];
      if (block.kind === "section") yield { text: block.title, rule: LINE, path: [...path, "title"] };
      else if (block.kind === "bullets") {
        for (const [item, text] of block.items.entries()) yield { text, rule: LINE, path: [...path, "items", item] };
      } else if (block.kind === "fields") {
        for (const [item, { label, value }] of block.items.entries()) {
          yield { text: label, rule: LINE, path: [...path, "items", item, "label"] };
          yield { text: value, rule: LINE, path: [...path, "items", item, "value"] };
        }
      } else yield { text: block.text, rule: LINES, path: [...path, "text"] };
    }
  }
}
