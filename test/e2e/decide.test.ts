// A person at the server's own terminal decides: where the audience names it, with the whole card read and its fingerprint typed back.

import { userInfo } from "node:os";
import { afterAll, beforeAll, expect, test } from "vitest";

import { EXIT } from "../../src/cli/exit-codes.ts";
import { holdpoint, type Ran } from "../cli/run-in-process.ts";
import { Scope } from "../harness/index.ts";
import { linesOf, Stage } from "./stage.ts";

const scope = new Scope();
let stage: Stage;
beforeAll(async () => {
  stage = await Stage.open(scope, {
    home: {
      audiences: { operators: { destinations: ["telegram:default/1001", "terminal"], people: ["ann", "bea"] } },
      config: {
        people: {
          ann: { name: "Ann", telegram: ["1001"] },
          bea: { name: "Bea", telegram: ["1002"], terminal: [`uid:${userInfo().uid}`] },
        },
      },
    },
  });
});
afterAll(() => scope.close());

/** A person at a terminal, who types `word` when asked for the fingerprint, and `text` when asked for the text. */
function person(args: readonly string[], word: string, text = ""): Promise<Ran> {
  let asked = 0;
  return holdpoint(["--home", stage.home.dir, "decide", ...args], {
    terminal: true,
    env: { NO_COLOR: "1" },
    types(shown) {
      if (!/(?:type [0-9a-f]{6}|Text for .*): $/.test(shown)) return undefined;
      asked += 1;
      if (asked > 3) throw new Error(`asked too often: ${shown}`);
      return /Text for [^\n]*: $/.test(shown) ? text : word;
    },
  });
}

async function fingerprintOf(run: string): Promise<string> {
  return (await stage.view(run)).decisions.at(-1)?.fingerprint ?? "";
}

test("the card is shown, the fingerprint typed, and everybody's card says who decided and where", async () => {
  const asked = await stage.ask("At the desk");
  const fingerprint = await fingerprintOf(asked.run);
  // Who looks at the lists is told how; a card that a phone shows as well needs no next step.
  const listed = (await stage.cli(["decisions"])).stdout;
  expect(listed).toContain(`terminal: holdpoint decide ${fingerprint} approve|replan|stop`);
  expect((await stage.view(asked.run)).nextStep).toBeNull();
  const done = await person([fingerprint, "approve"], fingerprint);
  expect(done, done.err).toMatchObject({ code: 0 });
  expect(done.err).toContain(asked.title);
  expect(done.out).toBe("Approved.\n");
  const view = await stage.finished(asked.run);
  expect(view.run.status).toBe("completed");
  expect(view.decisions[0]?.resolution).toMatchObject({
    choice: "approve",
    by: "Bea",
    channel: "terminal",
    assurance: "local",
  });
  expect(await stage.waitForText(asked.card, "Approved by Bea")).toContain("in the terminal");
  expect(linesOf(asked.file)).toHaveLength(1);
  expect(stage.submissions(asked.run)).toEqual([
    { actor: `uid:${userInfo().uid}`, choice: "approve", outcome: "won", reason: null },
  ]);

  // Whoever comes later is told, over the same door.
  const late = await person([fingerprint, "stop"], fingerprint);
  expect(late.code).toBe(EXIT.state.code);
  expect(late.out).toContain("Already approved by you");
});

test("no terminal, a wrong word, an unknown choice: nothing is decided, and nothing was submitted", async () => {
  const asked = await stage.ask("Not like this");
  const fingerprint = await fingerprintOf(asked.run);
  const piped = await stage.cli(["decide", fingerprint, "approve"]);
  expect(piped.code).toBe(EXIT.state.code);
  expect(piped.stderr).toContain("needs a terminal");
  const mistyped = await person([fingerprint, "approve"], "yes");
  expect(mistyped.code).toBe(EXIT.state.code);
  expect(mistyped.err).toContain("nothing was decided");
  const unknown = await person([fingerprint, "aprove"], fingerprint);
  expect(unknown.code).toBe(EXIT.usage.code);
  expect(unknown.err).toContain("Did you mean approve?");
  expect(stage.submissions(asked.run)).toEqual([]);

  const raced = await stage.ann.tap(asked.card, "Stop");
  await stage.ann.waitForToast(raced);
  await stage.finished(asked.run);
});

test("an audience that does not name the terminal: refused with the way out, and on record", async () => {
  const asked = await stage.ask("Phones only");
  const fingerprint = await fingerprintOf(asked.run);
  const { audiences } = stage.home.config as { audiences: Record<string, object> };
  const off = { operators: { ...audiences["operators"], destinations: ["telegram:default/1001"] } };
  stage.home.writeConfig({ ...stage.home.config, audiences: off });
  await stage.client.call("server.reload", {});
  const refused = await person([fingerprint, "approve"], fingerprint);
  expect(refused.code).toBe(EXIT.state.code);
  const said = refused.err.replace(/\s+/g, " ");
  expect(said).toContain("cannot be answered at the terminal");
  expect(said).toContain('add "terminal" to the destinations of "operators"');
  expect(stage.submissions(asked.run)).toMatchObject([{ outcome: "rejected", reason: "terminalOff" }]);
  expect((await stage.view(asked.run)).decisions[0]?.status).toBe("pending");

  // The file changes between the card's being shown and the answer: nobody has typed a fingerprint for it.
  stage.home.writeConfig(stage.home.config);
  await stage.client.call("server.reload", {});
  const { decisionId: decision, requestDigest } = await stage.client.call("decision.show", { decision: fingerprint });
  const answer = { decision, requestDigest, choice: "approve", input: null, confirmed: false };
  await expect(stage.client.call("decision.answer", answer)).rejects.toMatchObject({ kind: "answerUnconfirmed" });
  expect((await stage.view(asked.run)).decisions[0]?.status).toBe("pending");
  expect(stage.submissions(asked.run)).toHaveLength(1);
});

test("where only the terminal is asked, the run's next step is its command; where it is not, no list names it", async () => {
  const { audiences } = stage.home.config as { audiences: Record<string, object> };
  const here = { operators: { ...audiences["operators"], destinations: ["terminal"] } };
  stage.home.writeConfig({ ...stage.home.config, audiences: here });
  await stage.client.call("server.reload", {});
  const run = await stage.start("ask", { title: stage.unique("Here only"), file: stage.file() });
  const { decisions, nextStep } = await stage.waitForRun(run, (view) => view.decisions.length === 1, "the question");
  const { fingerprint = "", destinations } = decisions[0] ?? {};
  expect(destinations).toEqual([]);
  expect(nextStep).toBe(`holdpoint decide ${fingerprint} approve|replan|stop`);
  expect((await stage.cli(["show", run])).stdout).toContain(nextStep);

  stage.home.writeConfig({
    ...stage.home.config,
    audiences: { operators: { destinations: ["telegram:default/1001"] } },
  });
  await stage.client.call("server.reload", {});
  expect((await stage.view(run)).decisions[0]?.decideWith).toBeNull();
  expect((await stage.cli(["decisions"])).stdout).not.toContain("holdpoint decide");

  stage.home.writeConfig({ ...stage.home.config, audiences: here });
  await stage.client.call("server.reload", {});
  expect(await person([fingerprint, "stop"], fingerprint)).toMatchObject({ code: 0 });
  const ended = await stage.finished(run);
  expect(ended.decisions[0]?.decideWith).toBeNull();
  stage.home.writeConfig(stage.home.config);
  await stage.client.call("server.reload", {});
});
