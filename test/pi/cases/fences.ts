/** What an agent may not do, see or load. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bash, list, submit, type Case } from "./case.ts";

export const fences: readonly Case[] = [
  {
    name: "a tool that the step does not allow is neither offered nor executed",
    model: list(
      () => ({ calls: [bash("echo written > forbidden.txt"), { name: "read", args: { path: "allowed.txt" } }] }),
      ({ requestId }) => ({ calls: [submit(requestId, "done")] }),
    ),
    async run(stage) {
      writeFileSync(stage.path("allowed.txt"), "allowed content");
      assert.deepEqual(await stage.run({ allowedTools: ["read"] }), { outcome: "ok", output: "done" });
      assert.deepEqual([...(stage.model.requests[0]?.tools ?? [])].sort(), ["read", "workflow"]);
      assert.equal(existsSync(stage.path("forbidden.txt")), false);
      const results = (stage.model.requests[1]?.messages ?? []).filter(({ role }) => role === "tool");
      assert.match(results[0]?.text ?? "", /bash/);
      assert.match(results[1]?.text ?? "", /allowed content/);
    },
  },
  {
    name: "with an empty list of tools only submit and update are left",
    model: list(
      () => ({ calls: [bash("echo written > forbidden.txt")] }),
      ({ requestId }) => ({ calls: [submit(requestId, "done")] }),
    ),
    async run(stage) {
      assert.deepEqual(await stage.run({ allowedTools: [] }), { outcome: "ok", output: "done" });
      assert.deepEqual(stage.model.requests[0]?.tools, ["workflow"]);
      assert.equal(existsSync(stage.path("forbidden.txt")), false);
    },
  },
  {
    name: "a tool name that Pi would take for a pattern or an addition is refused before anything starts",
    model: list(),
    async run(stage) {
      for (const name of ["+bash", "*", "read,bash", "mcp__a__*", ""]) {
        const outcome = await stage.run({ allowedTools: [name] });
        assert.equal(outcome.outcome === "failed" && outcome.error.kind, "workflowInvalid", name);
      }
      assert.deepEqual(stage.log, []);
    },
  },
  {
    name: "extensions of the user, of the settings and of a trusted project stay out of an agent step",
    model: ({ requestId }) => (requestId === "none" ? { text: "plain" } : { calls: [submit(requestId, "done")] }),
    async run(stage) {
      const traces = ["user", "settings", "project"].map((name) => stage.path(`loaded-by-${name}`));
      const source = (trace: string): string =>
        `import { writeFileSync } from "node:fs";\nwriteFileSync(${JSON.stringify(trace)}, "loaded");\nexport default () => {};\n`;
      mkdirSync(join(stage.agentDir, "extensions"));
      mkdirSync(join(stage.cwd, ".pi/extensions"), { recursive: true });
      const places = [
        join(stage.agentDir, "extensions/user.ts"),
        join(stage.folder, "settings.ts"),
        join(stage.cwd, ".pi/extensions/project.ts"),
      ];
      for (const [index, place] of places.entries()) writeFileSync(place, source(traces[index] ?? ""));
      const settings = join(stage.agentDir, "settings.json");
      const changed = { ...(JSON.parse(readFileSync(settings, "utf8")) as object), extensions: [places[1]] };
      writeFileSync(settings, JSON.stringify({ ...changed, defaultProjectTrust: "always" }));

      assert.deepEqual(await stage.run(), { outcome: "ok", output: "done" });
      assert.deepEqual(traces.filter(existsSync), []);

      // The same Pi, started by a person, loads all three: the traces would have been seen.
      const [program = "", ...first] = stage.command;
      const env = { ...process.env, PI_CODING_AGENT_DIR: stage.agentDir };
      const args = [...first, "--approve", "--no-session", "-p", "hello"];
      const person = spawn(program, args, { cwd: stage.cwd, env, stdio: "ignore" });
      await new Promise((resolve) => person.once("exit", resolve));
      assert.deepEqual(traces.filter(existsSync), traces);
    },
  },
  {
    name: "what an agent starts holds neither the bridge's pipe nor its launch document",
    model: list(
      () => ({ calls: [bash("env | grep ^HOLDPOINT; ls -l /proc/self/fd")] }),
      ({ requestId }) => ({ calls: [submit(requestId, "done")] }),
    ),
    async run(stage) {
      const pipes: string[] = [];
      await stage.run({}, (value) => {
        // Pi is alive while its submission is judged.
        pipes.push(readlinkSync(`/proc/${stage.registered}/fd/3`));
        return Promise.resolve({ ok: true, value: value as string });
      });
      const seen = stage.model.requests[1]?.last ?? "";
      assert.match(pipes[0] ?? "", /^socket:/);
      assert.match(seen, /^HOLDPOINT_AGENT=run-/m);
      assert.doesNotMatch(seen, /HOLDPOINT_BRIDGE/);
      assert.match(seen, / 1 -> /);
      assert.ok(!seen.includes(pipes[0] ?? "?"), "the bridge's socket is among the descriptors of a tool");
    },
  },
  {
    name: "a prompt that looks like a command of Pi is said, not obeyed",
    model: list(({ requestId }) => ({ calls: [submit(requestId, "done")] })),
    async run(stage) {
      assert.deepEqual(await stage.run({ prompt: "/quit" }), { outcome: "ok", output: "done" });
      assert.match(stage.model.requests[0]?.last ?? "", /\/quit/);
    },
  },
];
