/** How a step ends when it does not end well: nothing of the agent goes on. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { checkPi, type Stage } from "../stage.ts";
import { bash, list, submit, until, type Case } from "./case.ts";

/** A writer that is in a session of its own and whose shell has returned, and a shell that goes on. */
const LEAVE_WRITER =
  "setsid nohup sh -c 'while :; do echo x >> background.txt; sleep 0.02; done' >/dev/null 2>&1 & echo started";
const GO_ON = "sh -c 'while :; do echo x >> foreground.txt; sleep 0.02; done'";
const writers = list({ calls: [bash(LEAVE_WRITER)] }, { calls: [bash(GO_ON)] });
/** The second one has an empty environment: it is known by its descent only. */
const hidingWriters = list({ calls: [bash(LEAVE_WRITER)] }, { calls: [bash(`env -i ${GO_ON}`)] });

function size(stage: Stage, name: string): number {
  return existsSync(stage.path(name)) ? readFileSync(stage.path(name)).length : 0;
}

function writing(stage: Stage): () => boolean {
  return () => size(stage, "background.txt") > 2 && size(stage, "foreground.txt") > 2;
}

/** What wrote before writes no more: nothing is alive, and the files stay as they are. */
async function assertStill(stage: Stage): Promise<void> {
  const sizes = [size(stage, "background.txt"), size(stage, "foreground.txt")];
  assert.ok(
    sizes.every((bytes) => bytes > 0),
    "both writers were at work",
  );
  assert.deepEqual(stage.alive(), []);
  // Ten of the writers' periods.
  await new Promise((resolve) => setTimeout(resolve, 200));
  assert.deepEqual([size(stage, "background.txt"), size(stage, "foreground.txt")], sizes);
}

export const ends: readonly Case[] = [
  {
    name: "when the time is up, everything that the agent started is gone before the step ends",
    model: hidingWriters,
    async run(stage) {
      const work = stage.run({ timeoutMs: 6_000 });
      await until(writing(stage));
      const outcome = await work;
      assert.equal(outcome.outcome, "timed_out");
      assert.equal(outcome.outcome === "timed_out" && outcome.error.kind, "nodeTimedOut");
      await assertStill(stage);
      assert.equal(stage.log.at(-1), "unregistered");
    },
  },
  {
    name: "a model that never answers does not keep the step longer than its time",
    model: () => ({ text: "I am thinking", hang: true }),
    async run(stage) {
      const outcome = await stage.run({ timeoutMs: 1_000 });
      assert.equal(outcome.outcome, "timed_out");
    },
  },
  {
    name: "a stopped run stops its agent with everything that it started",
    model: hidingWriters,
    async run(stage) {
      const work = stage.run();
      await until(writing(stage));
      stage.stop.abort();
      const outcome = await work;
      assert.equal(outcome.outcome === "failed" && outcome.error.kind, "agentStopped");
      await assertStill(stage);
    },
  },
  {
    name: "a closed executor has no agent left and starts none",
    model: hidingWriters,
    async run(stage) {
      const executor = stage.executor();
      const work = stage.run({}, undefined, executor);
      await until(writing(stage));
      await executor.close();
      await assertStill(stage);
      assert.equal((await work).outcome, "failed");
      const again = await stage.run({}, undefined, executor);
      assert.equal(again.outcome === "failed" && again.error.kind, "agentStopped");
    },
  },
  {
    name: "when Pi is killed, the step fails and what it had started is gone",
    model: writers,
    async run(stage) {
      const work = stage.run();
      await until(writing(stage));
      process.kill(stage.registered ?? assert.fail(), "SIGKILL");
      const outcome = await work;
      assert.equal(outcome.outcome === "failed" && outcome.error.kind, "agentFailed");
      assert.match(outcome.outcome === "failed" ? outcome.error.message : "", /SIGKILL/);
      await assertStill(stage);
    },
  },
  {
    name: "when the runner is killed, no agent outlives its pipe",
    model: hidingWriters,
    async run(stage) {
      const script = join(dirname(fileURLToPath(import.meta.url)), "../children/runner.ts");
      const { agentDir, command, cwd, folder, runId } = stage;
      const settings = JSON.stringify({ agentDir, command, cwd, folder, runId });
      const runner = spawn(process.execPath, ["--import", "jiti/register", script, settings], { stdio: "inherit" });
      await until(writing(stage));
      const exited = new Promise((resolve) => runner.once("exit", resolve));
      runner.kill("SIGKILL");
      await exited;
      await until(() => stage.alive().length === 0);
      await assertStill(stage);
    },
  },
  {
    name: "rule 4, rule 18: an interrupted step goes on in the same conversation under a new request id",
    model: list(
      { text: "I begin.", calls: [bash("echo half done")] },
      { text: "thinking", hang: true },
      ({ messages }) => {
        const first = /requestId "(q-[0-9a-f]{6})"/.exec(messages.map(({ text }) => text).join("\n"))?.[1] ?? "none";
        return { calls: [submit(first, "with the old id")] };
      },
      ({ requestId }) => ({ calls: [submit(requestId, "whole")] }),
    ),
    async run(stage) {
      const first = stage.executor();
      const work = stage.run({ attempt: 1 }, undefined, first);
      await until(() => stage.model.requests.length === 2);
      await first.close();
      assert.equal((await work).outcome, "failed");

      assert.deepEqual(await stage.run({ attempt: 2 }), { outcome: "ok", output: "whole" });
      const said = (stage.model.requests[2]?.messages ?? []).map(({ text }) => text).join("\n");
      assert.match(said, /I begin\.[\s\S]*half done[\s\S]*was interrupted and goes on here/);
      assert.match(stage.model.requests[3]?.last ?? "", /This step has the requestId/);
    },
  },
  {
    name: "the next visit of a node begins a conversation of its own",
    model: ({ requestId }) => ({ calls: [submit(requestId, "done")] }),
    async run(stage) {
      await stage.run({ visit: 1 });
      await stage.run({ visit: 2 });
      const texts = (stage.model.requests[1]?.messages ?? []).filter(({ role }) => role === "user");
      assert.equal(texts.length, 1);
      assert.doesNotMatch(texts[0]?.text ?? "", /interrupted/);
    },
  },
  {
    name: "an error of the model's provider fails the step with its words, and is no reason for a reminder",
    model: () => ({ status: 400 }),
    async run(stage) {
      const outcome = await stage.run();
      assert.equal(outcome.outcome === "failed" && outcome.error.kind, "agentFailed");
      assert.match(outcome.outcome === "failed" ? outcome.error.message : "", /scripted failure 400/);
      assert.equal(stage.model.requests.length, 1);
    },
  },
  {
    name: "without a model the step fails and says what Pi says",
    model: list(),
    async run(stage) {
      writeFileSync(join(stage.agentDir, "models.json"), "{}");
      writeFileSync(join(stage.agentDir, "settings.json"), "{}");
      const outcome = await stage.run();
      assert.equal(outcome.outcome === "failed" && outcome.error.kind, "agentFailed");
      assert.match(outcome.outcome === "failed" ? outcome.error.message : "", /model/i);
    },
  },
  {
    name: "a refused registration ends the agent before it was prompted",
    model: list(),
    async run(stage) {
      stage.refuseRegistration = new Error("the claim is gone");
      await assert.rejects(stage.run(), /the claim is gone/);
      assert.deepEqual(stage.log, ["registered"]);
    },
  },
  {
    name: "the check tells the version of Pi and of its Node, and what is wrong with another",
    model: list(),
    async run(stage) {
      const check = await checkPi({ command: [...stage.command], agentDir: stage.agentDir });
      assert.equal(check.ok, true);
      assert.match(check.ok ? check.version : "", /^\d+\.\d+\.\d+$/);
      assert.match((check.ok ? check.node : null) ?? "", /^\d+\.\d+\.\d+$/);
      if (Number(process.versions.node.split(".")[0]) < 22) {
        const old = await checkPi({ command: [process.execPath, stage.command[1] ?? ""] });
        assert.equal(old.ok, false);
        assert.match(old.ok ? "" : old.found, new RegExp(`on Node ${process.versions.node}`));
        assert.match(old.ok ? "" : old.needed, /Pi 1\.2\.0 or newer on Node 22\.19\.0 or newer/);
      }
    },
  },
];
