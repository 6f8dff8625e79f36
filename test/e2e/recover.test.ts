// A person settles what nobody can know: cards in doubt, by command line and by chat, and actions that were interrupted.

import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import type { EffectDetail } from "../../src/contracts/protocol/operations.ts";
import { Scope, liveButtons } from "../harness/index.ts";
import { Stage, isAlive, linesOf, until, type Asked } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope);
});
afterEach(async () => expect(await stage.leaks()).toEqual([]));
afterAll(() => scope.close());

/** A card that is in the chat although its sending was not confirmed. */
async function inDoubt(what: string): Promise<Asked & { effect: EffectDetail }> {
  await stage.standIn.control.faults.add({ kind: "drop", when: "after", how: "rst", method: "sendMessage" });
  const asked = await stage.ask(what);
  return { ...asked, effect: await stage.delivery(asked.run, "ambiguous") };
}

const cancel = (run: string): Promise<unknown> => stage.client.call("run.cancel", { run, reason: null });

describe("channel recover", () => {
  test("confirm with the message's number: the card is settled later like any other", async () => {
    const { run, title, card, effect } = await inDoubt("Confirmed with its number");
    const listed = await stage.cli(["effect", "list", "--plain"]);
    expect(listed.stdout).toContain(effect.shortId);
    expect(listed.stdout).toContain(`channel recover ${effect.shortId}`);
    const done = await stage.cli([
      "channel",
      "recover",
      effect.shortId,
      "confirm",
      "--reference",
      String(card),
      "--json",
    ]);
    expect(done.code, done.stdout).toBe(0);
    expect(JSON.parse(done.stdout)).toMatchObject({ ok: true, result: { status: "applied" } });
    await cancel(run);
    await stage.waitForText(card, "Cancelled");
    expect(await stage.copies(title)).toBe(1);
  });

  test("confirm without a number: nothing is sent again; the card is settled once somebody taps it", async () => {
    const { run, title, card, effect } = await inDoubt("Confirmed without a number");
    const done = await stage.cli(["channel", "recover", effect.shortId, "confirm"]);
    expect(done.code, done.stderr).toBe(0);
    await cancel(run);
    await stage.barrier();
    expect(liveButtons(await stage.ann.waitForCard(title))).toHaveLength(3);
    expect((await stage.delivery(run, "applied")).parts).toMatchObject([{ state: "accepted", reference: null }]);
    const tapped = await stage.ann.tap(card, "Approve");
    expect(await stage.ann.waitForToast(tapped)).toMatch(/^Cancelled/);
    await stage.waitForText(card, "Cancelled");
    expect(await stage.sends(title)).toBe(1);
  });

  test("retry: the second copy says that it may be a repeat; answering either counts, and both are settled", async () => {
    const { run, title, card, effect } = await inDoubt("Sent again");
    const done = await stage.cli(["channel", "recover", effect.shortId, "retry"]);
    expect(done.code, done.stderr).toBe(0);
    const second = await stage.ann.waitForCard(title, card);
    expect(second.text).toMatch(/Possible repeat of the card from .*\d\d:\d\d.*; answering either one counts\./);
    expect(await stage.copies(title)).toBe(2);

    await stage.ann.tap(second.id, "Approve");
    const view = await stage.finished(run);
    expect(view.decisions).toHaveLength(1);
    expect(view.decisions[0]?.destinations).toMatchObject([{ effectId: effect.effectId, status: "applied" }]);
    await stage.waitForText(second.id, "Approved by Ann");
    const late = await stage.ann.tap(card, "Stop");
    expect(await stage.ann.waitForToast(late)).toMatch(/^Already approved by you at /);
    await stage.waitForText(card, "Approved by Ann");
    const { attemptList, parts } = await stage.client.call("effect.show", { effect: effect.effectId });
    expect(attemptList.map(({ state }) => state)).toEqual(["accepted", "accepted"]);
    expect(parts.map(({ reference }) => reference)).toEqual([`1001:${card}`, `1001:${second.id}`]);
    expect(await stage.sends(title)).toBe(2);
  });

  test("what does not fit is refused with the nearest word, the reason, and its own exit code", async () => {
    const { run, card, effect } = await inDoubt("Refused recoveries");
    await stage.ann.tap(card, "Stop");
    await stage.finished(run);
    const [word, unknown, settled] = await Promise.all([
      stage.cli(["channel", "recover", effect.shortId, "confrim"]),
      stage.cli(["channel", "recover", "e-zzzzzz", "confirm"]),
      stage.cli(["channel", "recover", effect.shortId, "retry"]),
    ]);
    expect(word).toMatchObject({ code: EXIT.usage.code, stderr: expect.stringContaining("confirm") });
    expect(unknown).toMatchObject({ code: 5, stderr: expect.stringContaining("HP601") });
    expect(settled).toMatchObject({ code: 6, stderr: expect.stringContaining("HP602") });
  });
});

describe("/workflow-channel in the chat", () => {
  test("status lists what is in doubt; recover confirms or sends again, and answers in the chat", async () => {
    const one = await inDoubt("Doubtful one");
    const two = await inDoubt("Doubtful two");
    const asked = await stage.ann.say("/workflow_channel status");
    const status = await stage.ann.waitForMessage("Did these arrive?", asked.messageId);
    for (const { title, effect } of [one, two]) expect(status.text).toContain(`${effect.shortId}: “${title}”`);

    const confirm = await stage.ann.say(`/workflow_channel recover ${one.effect.shortId} confirm`);
    const noted = await stage.ann.waitForMessage("did arrive", confirm.messageId);
    expect(noted).toMatchObject({
      text: `Noted: “${one.title}” did arrive (${one.effect.shortId}).`,
      replyTo: confirm.messageId,
    });
    await stage.delivery(one.run, "applied");

    const retry = await stage.ann.say(`/workflow-channel recover ${two.effect.shortId} retry`);
    await stage.ann.waitForMessage(`Sending “${two.title}” again`, retry.messageId);
    const second = await stage.ann.waitForCard(two.title, two.card);
    expect(second.text).toContain("Possible repeat");
    const unknown = await stage.ann.say("/workflow_channel recover e-zzzzzz retry");
    await stage.ann.waitForMessage("No message “e-zzzzzz” is known here.", unknown.messageId);
    const again = await stage.ann.say(`/workflow_channel recover ${one.effect.shortId} retry`);
    await stage.ann.waitForMessage("is not in doubt", again.messageId);

    await stage.ann.tap(second.id, "Stop");
    await stage.ann.tap(one.card, "Stop");
    for (const { run, card } of [one, two]) {
      expect((await stage.finished(run)).finalOutput).toBe("nothing was changed");
      if (run === one.run) await stage.waitForText(card, "Stopped by Ann");
    }
  });
});

describe("an action that nobody may repeat, interrupted by the death of its runner", () => {
  /** Starts the letter, kills its runner while it prints, and waits until a person is asked for. */
  async function interrupted(): Promise<{ run: string; file: string; effect: string }> {
    const file = stage.file();
    const run = await stage.start("letter", { file });
    const pid = Number((await until(() => linesOf(file)[0], "the beginning of the letter")).split(" ").at(-1));
    expect(isAlive(pid)).toBe(true);
    process.kill(pid, "SIGKILL");
    const view = await stage.waitForRun(run, (seen) => seen.run.status === "ambiguous", "doubt about the action");
    expect(view.nextStep).toContain("effect settle");
    const effect = view.effects[0];
    expect(effect).toMatchObject({ purpose: "action", status: "ambiguous", attempts: 1 });
    expect(linesOf(file)).toHaveLength(1);
    return { run, file, effect: effect?.shortId ?? "" };
  }

  test("applied: the run goes on with the result that the person gave, and the action is not executed again", async () => {
    const { run, file, effect } = await interrupted();
    const shown = await stage.cli(["show", run, "--plain"]);
    expect(shown.stdout).toContain("effect settle");
    const settled = await stage.cli(["effect", "settle", effect, "applied", "--result", '{"printed":"by hand"}']);
    expect(settled.code, settled.stderr).toBe(0);
    const view = await stage.finished(run);
    expect(view).toMatchObject({ run: { status: "completed" }, finalOutput: { printed: "by hand" } });
    expect(linesOf(file)).toHaveLength(1);
  });

  test.each(["notApplied", "retry"] as const)("%s: it is executed once more, as the next attempt", async (outcome) => {
    const { run, file, effect } = await interrupted();
    const settled = await stage.cli(["effect", "settle", effect, outcome, "--json"]);
    expect(settled.code, settled.stdout).toBe(0);
    const view = await stage.finished(run);
    expect(view).toMatchObject({ run: { status: "completed" }, finalOutput: { printed: 2 } });
    expect(linesOf(file).map((line) => line.split(",")[0])).toEqual(["attempt 1", "attempt 2"]);
    const { attemptList } = await stage.client.call("effect.show", { effect });
    expect(attemptList.map(({ state }) => state)).toEqual([outcome === "retry" ? "ambiguous" : "notSent", "accepted"]);
    const again = await stage.cli(["effect", "settle", effect, "applied"]);
    expect(again).toMatchObject({ code: 6, stderr: expect.stringContaining("HP602") });
  });
});
