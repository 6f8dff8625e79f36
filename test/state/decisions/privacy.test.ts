/** What goes into a chat and what does not: sensitive presentations, protected messages, who is asked. */
import { describe, expect, it } from "vitest";
import { normalizeRequest } from "../../../src/contracts/decision/request.ts";
import type { Access } from "../../../src/state/decisions/access.ts";
import { ACCESS, authored, BEA, cardOf, GUEST, replyOf, World } from "./fixture.ts";

const SECRET = {
  presentation: {
    schema: "holdpoint.decision-presentation.v1",
    summary: "Ann's salary",
    blocks: [{ kind: "fields", items: [{ label: "New", value: "90,000" }] }],
    sensitive: true,
  },
};

describe("a sensitive presentation", () => {
  it("is bound by the digest and never leaves the server in a frame, whatever becomes of it", async () => {
    const world = await World.open();
    const asked = await world.ask({ ...SECRET, audience: "both" });
    const first = await world.deliver();
    expect(cardOf(first.perform).card).toMatchObject({
      title: "Approve the deployment",
      withheld: true,
      presentation: { summary: "Approve the deployment", blocks: [], sensitive: true },
    });
    const second = await world.deliver();
    await world.tap(first, "replan");
    const prompt = await world.deliver();
    expect(await world.say("keep it quiet", { replyTo: prompt.references[0]! })).toMatchObject({ verdict: "accepted" });
    const frames = [first.perform, second.perform, ...(await world.drain())];
    expect(frames.some(({ op }) => op === "edit")).toBe(true);
    // The person's own words are told to that person only.
    for (const frame of frames.filter(({ content }) => content?.kind === "card")) {
      for (const said of ["salary", "90,000", "keep it quiet"]) expect(JSON.stringify(frame)).not.toContain(said);
    }
    const binding = { runId: "r", workflowName: "w", nodeId: "n", attemptId: "a", createdAt: 1 };
    const open = { ...SECRET, presentation: { ...SECRET.presentation, sensitive: false } };
    const digests = [SECRET, open].map((change) => normalizeRequest(authored(change), binding).requestDigest);
    expect(new Set(digests).size).toBe(2);
    expect(world.store.read.decisions.get(asked.decisionId).status).toBe("accepted");
  });

  it("may be left out or false, which is the same request", () => {
    const binding = { runId: "r", workflowName: "w", nodeId: "n", attemptId: "a", createdAt: 1 };
    const plain = authored();
    const presentation = { ...(plain["presentation"] as object), sensitive: false };
    expect(normalizeRequest({ ...plain, presentation }, binding)).toEqual(normalizeRequest(plain, binding));
  });
});

describe("protectContent", () => {
  const shielded: Access = {
    ...ACCESS,
    audiences: { ...ACCESS.audiences, ops: { ...ACCESS.audiences["ops"]!, protectContent: true } },
  };

  it("protects what is sent to the audience: cards, questions for text; not answers to operators", async () => {
    const world = await World.open();
    world.access = shielded;
    await world.ask();
    const card = await world.deliver();
    expect(card.perform.protect).toBe(true);
    await world.tap(card, "replan");
    const prompt = await world.mustNext();
    expect(replyOf(prompt).reply.code).toBe("promptText");
    expect(prompt.protect).toBe(true);
    await world.post(prompt);
    await world.command("", { command: "status" });
    expect((await world.mustNext()).protect).toBeUndefined();
  });

  it("is the audience's own: others are sent as ever", async () => {
    const world = await World.open();
    world.access = shielded;
    await world.ask({ audience: "both" });
    expect((await world.mustNext()).protect).toBeUndefined();
  });
});

describe("who is asked", () => {
  it("is everybody by name who may answer", async () => {
    const world = await World.open();
    await world.ask();
    expect(cardOf((await world.deliver()).perform).card.audience).toEqual(["Ann", "Bea"]);
    world.access = {
      ...ACCESS,
      people: { ...ACCESS.people, gus: { name: "Gus", telegram: [GUEST] }, out: { name: "Out", telegram: ["555"] } },
    };
    await world.ask({ audience: "both" });
    expect(cardOf((await world.deliver()).perform).card.audience).toEqual(["Ann", "Bea", "Gus"]);
  });

  it("follows the list at the next answer: whoever was taken off is refused, whoever was added counts", async () => {
    const world = await World.open();
    await world.ask();
    const card = await world.deliver();
    const { ops } = ACCESS.audiences;
    const only = (people: string[]): Access => ({
      ...ACCESS,
      audiences: { ...ACCESS.audiences, ops: { ...ops!, people } },
    });
    expect(await world.tap(card, "approve", { user: BEA, access: only(["ann"]) })).toMatchObject({
      ack: { code: "notOnList" },
    });
    expect(await world.tap(card, "approve", { user: BEA, access: only(["ann", "bea"]) })).toMatchObject({
      verdict: "accepted",
    });
  });
});
