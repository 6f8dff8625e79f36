// Texts that nobody would write by hand, as the chat shows them: hostile ones (T15), and ones that end in the middle of a character (T17).

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { Scope, liveButtons } from "../harness/index.ts";
import { Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope, { home: { audiences: { operators: ["telegram:default/1001"] } } });
});
afterAll(() => scope.close());

/** Half of a character. */
const LONE = /\p{Surrogate}/u;
const EVIL = "<script>&_*[x](http://evil) \u202egnp.exe \u0000 end";
/** What a phone can send, and an author may ask: no NUL. */
const TYPED = "<b>&_*[x](http://evil) \u202egnp.exe";
const VISIBLE = "<b>&_*[x](http://evil) \u27e8U+202E\u27e9gnp.exe";
const SHOWN = "<script>&_*[x](http://evil) \u27e8U+202E\u27e9gnp.exe \u2400 end";

/** What the chat shows of a run, by words of it. */
async function copies(words: string): Promise<{ id: number; text: string; entities: readonly { type: string }[] }[]> {
  return (await stage.ann.messages())
    .filter(({ from, text }) => from === "bot" && text.includes(words))
    .map(({ entities, id, text }) => ({ id, text, entities: entities ?? [] }));
}

describe("T15: a hostile text", () => {
  test("as an alert arrives once, literally and without a link", async () => {
    const run = await stage.start("alarm", { title: stage.unique("Alarm"), audience: "operators", message: EVIL });
    await stage.ann.waitForMessage(SHOWN);
    await stage.quiet(run);
    const [only, ...more] = await copies(SHOWN);
    expect(more).toEqual([]);
    expect(only?.entities.map(({ type }) => type)).not.toContain("text_link");
    expect(stage.rows("SELECT status, attempt_count AS attempts FROM effects WHERE purpose = 'alert'")).toEqual([
      { status: "applied", attempts: 1 },
    ]);
    await stage.client.call("checkpoint.answer", { request: run, answer: null });
    await stage.finished(run);
  });

  test("as a card's title and summary is shown literally, and as an answer is kept as it was typed", async () => {
    const run = await stage.start("ask", { title: TYPED, summary: TYPED, file: stage.file() });
    const card = await stage.ann.waitForCard(`${VISIBLE}\n${VISIBLE}\n`);
    expect((card.entities ?? []).map(({ type }) => type)).not.toContain("text_link");
    await stage.ann.tap(card.id, "Replan…");
    const prompt = await stage.ann.waitForMessage("What should change?", card.id);
    await stage.ann.reply(prompt.id, TYPED);
    const next = await stage.ann.waitForCard(VISIBLE, prompt.id);
    const { decisions } = await stage.view(run);
    expect(decisions[0]?.resolution?.input).toBe(TYPED);
    expect((await stage.ann.waitForSettled(card.id)).text).toContain(`\u201c${VISIBLE}\u201d`);
    await stage.ann.tap(next.id, "Stop");
    await stage.finished(run);
    expect(await copies(`${VISIBLE}\n${VISIBLE}`)).toHaveLength(2);
  });
});

describe("T17: a text of characters that are two units each", () => {
  test.each([
    ["one unit too many for a message, and a tail", `${"\u{1f600}".repeat(2_049)}tail`],
    ["two messages to the unit", "\u{1f600}".repeat(4_096)],
  ])("%s: every part is sound, nothing is lost, the last has the buttons, and all are settled", async (_what, text) => {
    const asked = await stage.ask("Smiles", { blocks: [{ kind: "paragraph", text }] });
    await stage.quiet(asked.run);
    const parts = (await stage.ann.messages()).filter(({ text: part }) => part.includes(asked.title));
    expect(parts.length).toBeGreaterThan(1);
    for (const part of parts) {
      expect(part.text).not.toMatch(LONE);
      expect(part.text.length).toBeLessThanOrEqual(4_096);
    }
    const smiles = parts
      .map((part) => part.text.match(/\u{1f600}/gu)?.length ?? 0)
      .reduce((sum, count) => sum + count, 0);
    expect(smiles).toBe(text.match(/\u{1f600}/gu)?.length);
    expect(parts.at(-1)?.text.includes("tail")).toBe(text.endsWith("tail"));
    expect(parts.map((part) => liveButtons(part).length > 0)).toEqual(parts.map((_, at) => at === parts.length - 1));
    await stage.ann.tap(parts.at(-1)?.id ?? 0, "Stop");
    await stage.finished(asked.run);
    for (const { id } of parts) expect((await stage.ann.waitForSettled(id)).text).not.toMatch(LONE);
  });
});
