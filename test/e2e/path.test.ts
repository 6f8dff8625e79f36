// The way of a question from the workflow to people and back, with everything in order: parts, places, texts, loops, cancellation.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { Scope, liveButtons, type Phone } from "../harness/index.ts";
import { Stage, linesOf } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope, {
    home: { audiences: { operators: ["telegram:default/1001", "telegram:default/1002"] } },
  });
});
afterAll(() => scope.close());

/** A paragraph of about 1,900 units in which every word is another one. */
function paragraph(mark: string): string {
  return Array.from({ length: 235 }, (_, at) => `${mark}${at}`).join(" ");
}

/** The visible messages with a title, oldest first. */
async function shown(phone: Phone, title: string): Promise<{ id: number; text: string; live: boolean }[]> {
  const found = (await phone.messages()).filter(({ text }) => text.includes(title));
  return found.map((message) => ({ id: message.id, text: message.text, live: liveButtons(message).length > 0 }));
}

describe("a card of two parts in two chats", () => {
  test("is answered in one of them, and both say who decided and lose nothing that was shown", async () => {
    const blocks = ["left", "right"].map((mark) => ({ kind: "paragraph" as const, text: paragraph(mark) }));
    const asked = await stage.ask("Two parts", { blocks });
    const copy = await stage.bea.waitForCard(asked.title);
    for (const phone of [stage.ann, stage.bea]) {
      const parts = await shown(phone, asked.title);
      expect(parts.map(({ text }) => text.split("\n")[0])).toEqual([
        expect.stringMatching(/^🟡 .* · part 1\/2 · [0-9a-f]{6}$/),
        expect.stringMatching(/^🟡 .* · part 2\/2 · [0-9a-f]{6}$/),
      ]);
      expect(parts.map(({ live }) => live)).toEqual([false, true]);
    }
    const before = await shown(stage.ann, asked.title);

    const tapped = await stage.bea.tap(copy.id, "Approve");
    expect(await stage.bea.waitForToast(tapped)).toBe("Approved.");
    expect((await stage.finished(asked.run)).run.status).toBe("completed");
    for (const phone of [stage.ann, stage.bea]) {
      await stage.standIn.waitFor(
        (state) =>
          state.chats
            .find(({ id }) => id === phone.chat)
            ?.messages.filter(({ text }) => text.includes(asked.title))
            .every(({ text }) => text.startsWith("✅") && text.includes("Approved by Bea")) && state,
        `both parts settled for ${phone.chat}`,
      );
      const parts = await shown(phone, asked.title);
      expect(parts.map(({ live }) => live)).toEqual([false, false]);
      await stage.waitForText(parts[1]?.id ?? 0, "Run completed", phone.chat);
      const text = parts.map((part) => part.text).join("\n");
      for (const word of blocks.flatMap((block) => block.text.split(" ")))
        expect(text).toMatch(new RegExp(`\\b${word}\\b`));
    }
    expect(before.every(({ text }) => text.startsWith("🟡"))).toBe(true);
    expect((await stage.quiet(asked.run)).decisions[0]?.destinations).toMatchObject([
      { destination: "telegram:default/1001", status: "applied", shown: 2 },
      { destination: "telegram:default/1002", status: "applied", shown: 2 },
    ]);
    expect(linesOf(asked.file)).toHaveLength(1);
    expect(await stage.leaks()).toEqual([]);
  });
});

describe("a choice with a text", () => {
  test("takes the reply exactly as it was written, and the next version is asked about", async () => {
    const asked = await stage.ask("Replan it");
    const tapped = await stage.ann.tap(asked.card, "Replan…");
    expect(await stage.ann.waitForToast(tapped)).toBe("Replan: reply to the message below with your text.");
    const prompt = await stage.ann.waitForMessage("What should change?", asked.card);
    expect(prompt.forceReply).toBeDefined();
    expect(prompt.replyTo).toBe(asked.card);

    const text = "\n🚀 use the blue pool,\n\n  not the \u{1F468}‍👩‍👧 one";
    const spoken = await stage.ann.reply(prompt.id, text);
    const told = await stage.ann.waitForMessage("Got it: replan", spoken.messageId);
    expect(told.replyTo).toBe(spoken.messageId);
    await stage.waitForText(asked.card, "Replanned by Ann");
    const next = await stage.ann.waitForCard(asked.title, spoken.messageId);
    const waiting = await stage.view(asked.run);
    expect(waiting.decisions.map(({ status }) => status)).toEqual(["accepted", "pending"]);
    expect(waiting.decisions[0]?.resolution).toMatchObject({ choice: "replan", input: text, by: "Ann" });
    expect(waiting.outputs["replan"]).toEqual({ revision: 2, changes: text });
    expect(linesOf(asked.file)).toEqual([]);

    await stage.ann.tap(next.id, "Approve");
    const view = await stage.finished(asked.run);
    expect(view.run.status).toBe("completed");
    expect(linesOf(asked.file)).toHaveLength(1);
    await stage.quiet(asked.run);
    // The question for the text is gone: its answer stands on the card.
    expect(
      (await stage.ann.messages()).filter(({ text: shownText }) => shownText.includes("What should change?")),
    ).toEqual([]);
  });
});

describe("a question that is asked again with the same content", () => {
  test("is another attempt and another decision; a tap on the first card is told what was decided there", async () => {
    const asked = await stage.ask("The same again", {}, "again");
    const data = liveButtons(await stage.ann.waitForCard(asked.title)).map((button) => button.data as string);
    await stage.ann.tap(asked.card, "Again");
    const second = await stage.ann.waitForCard(asked.title, asked.card);

    const stale = await stage.standIn.control.people.tapRaw(1_001, 1_001, asked.card, data[1] as string);
    expect(await stage.ann.waitForToast(stale)).toMatch(/^Already decided by you at .*: “Again”\.$/);
    const between = await stage.view(asked.run);
    expect(between.decisions.map(({ status }) => status)).toEqual(["accepted", "pending"]);

    await stage.ann.tap(second.id, "Done");
    const view = await stage.finished(asked.run);
    expect(view.finalOutput).toBe("done");
    expect(new Set(view.decisions.map(({ decisionId }) => decisionId)).size).toBe(2);
    expect(view.decisions.map(({ resolution }) => resolution?.choice)).toEqual(["again", "done"]);
    expect(new Set(linesOf(asked.file)).size).toBe(2);
    const attempts = stage.rows<{ node: string; visit: number; status: string }>(
      "SELECT a.node_id AS node, a.visit, a.status FROM node_attempts a JOIN runs r USING (run_no) WHERE r.run_id = ? AND a.node_id = 'ask' ORDER BY a.attempt_no",
      asked.run,
    );
    expect(attempts).toMatchObject([
      { visit: 1, status: "completed" },
      { visit: 2, status: "completed" },
    ]);
  });
});

describe("cancelling a run that waits", () => {
  test("stops the question; who taps afterwards is told", async () => {
    const asked = await stage.ask("Cancelled before the answer");
    const approve = liveButtons(await stage.ann.waitForCard(asked.title))[0]?.data as string;
    const cancelled = await stage.cli(["cancel", asked.run, "--reason", "too late in the day"]);
    expect(cancelled.code, cancelled.stderr).toBe(0);
    await stage.waitForText(asked.card, "too late in the day");
    expect(await stage.message(asked.card)).toMatch(/^⛔ [^]*Cancelled/);
    const tapped = await stage.standIn.control.people.tapRaw(1_001, 1_001, asked.card, approve);
    expect(await stage.ann.waitForToast(tapped)).toMatch(/^Cancelled/);
    const view = await stage.view(asked.run);
    expect(view.run.status).toBe("cancelled");
    expect(view.decisions[0]?.resolution).toMatchObject({ outcome: "cancelled", provenance: "explicit_cancel" });
    expect(linesOf(asked.file)).toEqual([]);
  });

  test("while somebody answers, one of both wins, and everything tells the same story", async () => {
    const rounds = await Promise.all(Array.from({ length: 6 }, () => stage.ask("Cancelled during the answer")));
    for (const asked of rounds) {
      const [tapped] = await Promise.all([
        // The button is gone when the cancellation was much quicker.
        stage.ann.tap(asked.card, "Approve").catch((error: Error) => {
          expect(error.message).toContain("no button");
          return null;
        }),
        stage.client.call("run.cancel", { run: asked.run, reason: null }).catch((error: unknown) => error),
      ]);
      const toast = tapped === null ? "Cancelled" : await stage.ann.waitForToast(tapped);
      const view = await stage.finished(asked.run);
      expect(view.decisions).toHaveLength(1);
      const { resolution } = view.decisions[0] ?? {};
      if (resolution?.provenance === "human") {
        expect(toast).toBe("Approved.");
        await stage.waitForText(asked.card, "Approved by Ann");
        expect(["cancelled", "completed"]).toContain(view.run.status);
      } else {
        expect(resolution?.provenance).toBe("explicit_cancel");
        expect(toast).toMatch(/^Cancelled/);
        await stage.waitForText(asked.card, "Cancelled");
        expect(view.run.status).toBe("cancelled");
        expect(linesOf(asked.file)).toEqual([]);
      }
      const won = stage.submissions(asked.run).filter(({ outcome }) => outcome === "won");
      expect(won).toHaveLength(1);
      expect(linesOf(asked.file).length).toBeLessThanOrEqual(1);
    }
  });
});
