/** How a result gets from the model to the workflow. */
import assert from "node:assert/strict";
import { list, submit, type Case } from "./case.ts";

const SUBMIT = { kind: "submit", expectedOutput: "An object with the plan." } as const;

export const submitting: readonly Case[] = [
  {
    name: "a submitted output is the step's output, and the agent was registered before it was prompted",
    model: list(({ requestId }) => ({ text: "Here.", calls: [submit(requestId, { plan: ["a", "b"] })] })),
    async run(stage) {
      assert.deepEqual(await stage.run(), { outcome: "ok", output: { plan: ["a", "b"] } });
      // One request: the accepted submission ends the turn, nobody pays for a farewell.
      assert.deepEqual(stage.log, ["registered", "request 1", "unregistered"]);
      const [request] = stage.model.requests;
      assert.ok(request?.tools.includes("workflow") === true && request.tools.includes("bash"));
      assert.match(request.last, /Make a plan\.[\s\S]*An object with the plan\.[\s\S]*do not wait, sleep/);
    },
  },
  {
    name: "a refused output comes back to the model with the reason and may be corrected",
    model: list(
      ({ requestId }) => ({ calls: [submit(requestId, { plan: 7 })] }),
      ({ requestId }) => ({ calls: [submit(requestId, { plan: "good" })] }),
    ),
    async run(stage) {
      const outcome = await stage.run({}, (value) =>
        Promise.resolve(
          (value as { plan: unknown }).plan === "good"
            ? { ok: true, value: { checked: value as { plan: string } } }
            : { ok: false, message: "plan must be good, not 7" },
        ),
      );
      assert.deepEqual(outcome, { outcome: "ok", output: { checked: { plan: "good" } } });
      assert.equal(stage.model.requests.length, 2);
      assert.match(stage.model.requests[1]?.last ?? "", /refused: plan must be good, not 7/);
    },
  },
  {
    name: "three turns without a result: two reminders, then the step fails as missingSubmission",
    model: list({ text: "I have done it." }, { text: "Really." }, { text: "Trust me." }),
    async run(stage) {
      const outcome = await stage.run();
      assert.equal(outcome.outcome, "failed");
      assert.equal(outcome.outcome === "failed" && outcome.error.kind, "missingSubmission");
      assert.equal(stage.model.requests.length, 3);
      assert.match(stage.model.requests[1]?.last ?? "", /reminder 1 of 2/);
      assert.match(stage.model.requests[2]?.last ?? "", /reminder 2 of 2/);
    },
  },
  {
    name: "a result after the second reminder is as good as any",
    model: list({ text: "Hm." }, { text: "Hm." }, ({ requestId }) => ({ calls: [submit(requestId, "late")] })),
    async run(stage) {
      assert.deepEqual(await stage.run(), { outcome: "ok", output: "late" });
    },
  },
  {
    name: "a submission for another request, with unknown fields or without output is refused and named",
    model: list(
      () => ({ calls: [submit("q-000000", 1)] }),
      ({ requestId }) => ({
        calls: [{ name: "workflow", args: { action: "submit", requestId, output: 2, force: true } }],
      }),
      ({ requestId }) => ({ calls: [{ name: "workflow", args: { action: "submit", requestId } }] }),
      ({ requestId }) => ({ calls: [{ name: "workflow", args: { action: "cancel", requestId } }] }),
      ({ requestId }) => ({ calls: [submit(requestId, 3)] }),
    ),
    async run(stage) {
      assert.deepEqual(await stage.run(), { outcome: "ok", output: 3 });
      const told = stage.model.requests.map(({ last }) => last);
      assert.match(told[1] ?? "", /requestId "q-[0-9a-f]{6}", not "q-000000"/);
      assert.match(told[2] ?? "", /force/);
      assert.match(told[3] ?? "", /output/);
      assert.match(told[4] ?? "", /action/);
    },
  },
  {
    name: "an output above the limit is refused with limit and size",
    model: list(
      ({ requestId }) => ({ calls: [submit(requestId, "x".repeat(950_000))] }),
      ({ requestId }) => ({ calls: [submit(requestId, "x".repeat(2_000_000))] }),
      ({ requestId }) => ({ calls: [submit(requestId, "small")] }),
    ),
    async run(stage) {
      assert.deepEqual(await stage.run(), { outcome: "ok", output: "small" });
      assert.match(stage.model.requests[1]?.last ?? "", /950002 bytes.*900000/);
      assert.match(stage.model.requests[2]?.last ?? "", /limit is 1048576/);
    },
  },
  {
    name: "a model that is refused without end is stopped with the last reason",
    model: ({ requestId }) => ({ calls: [submit(requestId, 0)] }),
    async run(stage) {
      const outcome = await stage.run({}, () => Promise.resolve({ ok: false, message: "not zero" }));
      assert.equal(outcome.outcome === "failed" && outcome.error.kind, "outputRefused");
      assert.match(outcome.outcome === "failed" ? outcome.error.message : "", /20 submissions .* not zero/);
      assert.equal(stage.model.requests.length, 20);
    },
  },
  {
    name: "what a model says or does after its accepted submission changes nothing",
    model: list(
      ({ requestId }) => ({
        text: "First",
        calls: [
          submit(requestId, "the result"),
          submit(requestId, "another"),
          { name: "bash", args: { command: "sleep 600" } },
        ],
      }),
      { text: "A long tail that nobody asked for." },
    ),
    async run(stage) {
      assert.deepEqual(await stage.run({ contract: SUBMIT }), { outcome: "ok", output: "the result" });
      assert.equal(stage.model.requests.length, 1);
    },
  },
  {
    name: "a step with an assistant message has the text of the last message as output",
    model: list(
      { text: "Looking.", calls: [{ name: "bash", args: { command: "echo found it" } }] },
      { text: "It is blue." },
    ),
    async run(stage) {
      const outcome = await stage.run({ contract: { kind: "assistantMessage", maxChars: 100 } });
      assert.deepEqual(outcome, { outcome: "ok", output: "It is blue." });
      assert.match(stage.model.requests[0]?.last ?? "", /at most 100 characters/);
      assert.match(stage.model.requests[1]?.last ?? "", /found it/);
    },
  },
  {
    name: "an assistant message that is empty or too long is asked for again",
    model: list({ text: "" }, { text: "x".repeat(11) }, { text: "ten chars!" }),
    async run(stage) {
      const outcome = await stage.run({ contract: { kind: "assistantMessage", maxChars: 10 } });
      assert.deepEqual(outcome, { outcome: "ok", output: "ten chars!" });
      assert.match(stage.model.requests[1]?.last ?? "", /no text/);
      assert.match(stage.model.requests[2]?.last ?? "", /11 characters; at most 10/);
    },
  },
  {
    name: "an update reaches the workflow with its attempt and call; a refused one tells the model why",
    model: list(
      ({ requestId }) => ({ calls: [update(requestId, { type: "progress", key: "job", data: { completed: 1 } })] }),
      ({ requestId }) => ({ calls: [update(requestId, { type: "progress", key: "refuse-me", data: {} })] }),
      ({ requestId }) => ({ calls: [update(requestId, { type: "Not A Type", key: "job", data: {} })] }),
      ({ requestId }) => ({ calls: [submit(requestId, null)] }),
    ),
    async run(stage) {
      stage.publishUpdate = (one) => {
        if (one.update.key === "refuse-me") return Promise.reject(new Error("20 updates a second are enough"));
        stage.updates.push(one);
        return Promise.resolve();
      };
      assert.deepEqual(await stage.run({ visit: 3, attempt: 2 }), { outcome: "ok", output: null });
      assert.equal(stage.updates.length, 1);
      const { toolCallId, ...rest } = stage.updates[0] ?? assert.fail();
      assert.deepEqual(rest, {
        nodeId: "plan",
        visit: 3,
        attempt: 2,
        update: { type: "progress", key: "job", data: { completed: 1 } },
      });
      assert.ok(toolCallId.length > 0);
      assert.match(stage.model.requests[2]?.last ?? "", /20 updates a second are enough/);
      assert.match(stage.model.requests[3]?.last ?? "", /update\.type/);
    },
  },
];

function update(requestId: string, content: unknown): { name: string; args: unknown } {
  return { name: "workflow", args: { action: "update", requestId, update: content } };
}
