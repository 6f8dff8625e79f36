/** A waiting run that cannot be continued: its cards and lists say so before anybody answers, and keep working. */
import { describe, expect, it } from "vitest";
import { HoldpointError } from "../../../src/contracts/errors.ts";
import type { Perform } from "../../../src/contracts/protocol/channel.ts";
import { OPS, tokensOf, World } from "./fixture.ts";

const GONE = new HoldpointError("workflowSourceChanged", "deploy.workflow.ts is gone.").toRecord();

const noted = (perform: Perform | null): unknown => {
  const content = perform?.content;
  return content?.kind === "card" ? (content.state.notes ?? {}) : undefined;
};

describe("a waiting run whose files are gone", () => {
  it("is said on its card, whose old and new buttons both work", async () => {
    for (const which of ["old", "new"] as const) {
      const world = await World.open();
      const asked = await world.ask();
      const card = await world.deliver();
      expect(await world.store.runs.noteSources({ runNo: asked.runNo, error: GONE })).toEqual({ changed: true });
      const edit = await world.mustNext();
      expect(edit).toMatchObject({ op: "edit", reference: card.references[0] });
      expect(noted(edit)).toEqual({ sourceChanged: true });
      expect(Object.keys(tokensOf(edit))).toEqual(Object.keys(tokensOf(card.perform)));
      await world.post(edit);
      const shown = which === "old" ? card : { ...card, perform: edit };
      const tapped = await world.tap(shown, "approve");
      expect(tapped).toMatchObject({ verdict: "accepted", ack: { code: "sourceChanged" } });
      expect(world.store.read.decisions.get(asked.decisionId)).toMatchObject({ status: "accepted" });
    }
  });

  it("is said in the list with the way out, until the files are back", async () => {
    const world = await World.open();
    const { decisionId, runNo } = await world.ask();
    await world.deliver();
    expect(world.store.read.decisions.get(decisionId).notes).toEqual([]);
    await world.store.runs.noteSources({ runNo, error: GONE });
    expect(world.store.read.decisions.get(decisionId).notes).toEqual([
      expect.stringMatching(/answer is kept.*deploy\.workflow\.ts is gone\. Restore the files.*or cancel the run/),
    ]);
    expect(noted(await world.drain().then(([edit]) => edit ?? null))).toEqual({ sourceChanged: true });
    expect(await world.store.runs.noteSources({ runNo, error: GONE })).toEqual({ changed: false });
    expect(await world.next()).toBeNull();
    await world.store.runs.noteSources({ runNo, error: null });
    expect(world.store.read.decisions.get(decisionId).notes).toEqual([]);
    expect((await world.drain()).map(noted)).toEqual([{}]);
    // Each time it happens the card is brought up to date.
    await world.store.runs.noteSources({ runNo, error: GONE });
    expect((await world.drain()).map(noted)).toEqual([{ sourceChanged: true }]);
  });

  it("is said on a card that was on its way meanwhile, and on one that is sent afterwards", async () => {
    const world = await World.open();
    const { runNo } = await world.ask({ audience: "both" });
    const early = await world.mustNext();
    expect(noted(early)).toEqual({});
    await world.dispatch(early);
    await world.store.runs.noteSources({ runNo, error: GONE });
    await world.store_(early, 1, 1, `${OPS}:7`);
    await world.finish(early, "accepted");
    const rest = await world.drain();
    expect(rest.map((perform) => [perform.op, noted(perform)])).toEqual(
      expect.arrayContaining([
        ["edit", { sourceChanged: true }],
        ["post", { sourceChanged: true }],
      ]),
    );
  });

  it("leaves a question for text open, and posts nothing when the card cannot be edited", async () => {
    const world = await World.open();
    const { runNo } = await world.ask();
    const card = await world.deliver();
    await world.tap(card, "replan");
    await world.drain();
    await world.store.runs.noteSources({ runNo, error: GONE });
    const edit = await world.mustNext();
    expect(edit.op).toBe("edit");
    await world.dispatch(edit);
    await world.finish(edit, "rejected", { error: GONE });
    expect(await world.drain()).toEqual([]);
    expect(world.count("effects", "effect_type = 'prompt.close'")).toBe(0);
  });

  it("shows the verdict alone when it was answered before the edit went out", async () => {
    const world = await World.open();
    const { runNo } = await world.ask();
    const card = await world.deliver();
    await world.store.runs.noteSources({ runNo, error: GONE });
    await world.tap(card, "approve");
    const frames = await world.drain();
    expect(frames.every(({ content }) => content?.kind !== "card" || content.state.status.kind === "chosen")).toBe(
      true,
    );
    expect(frames.at(-1)?.op).toBe("edit");
  });

  it("is not noted of a run that does not wait any more", async () => {
    const world = await World.open();
    const asked = await world.ask();
    await world.answer(asked, "approve");
    expect(await world.store.runs.noteSources({ runNo: asked.runNo, error: GONE })).toEqual({ changed: false });
    expect(world.store.read.runs.get(asked.runId)).toMatchObject({ queueStatus: "queued", queueError: null });
  });
});
