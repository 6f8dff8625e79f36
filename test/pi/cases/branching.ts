/** What Pi does to a conversation while a step or a question of a run waits in it: it is compacted, and another session forks from it. */
import assert from "node:assert/strict";
import type { Script } from "../mock-model.ts";
import { inWorld } from "../sessions/world.ts";
import type { Case } from "./case.ts";
import { approve, assertOnce, hangingOnce } from "./survive.ts";

const START = 'CALL {"action":"start","workflow":"deploy"}';

/** Its first turn of the step hangs, and Pi gets the summaries that it asks for. */
function summing(): Script {
  const other = hangingOnce();
  return (request) => (/summar/i.test(request.last) ? { text: "They spoke." } : other(request));
}

export const branching: readonly Case[] = [
  {
    name: "a conversation that is compacted or forked while a step or a question waits keeps each message once, and the fork has no part in the run",
    model: summing(),
    run: (stage) =>
      inWorld(stage, { pi: { rpcAnswers: true } }, async (world) => {
        const first = world.pi({ sessionId: "origin" });
        await first.turn("hello");
        await first.prompt(START);
        await first.until(() => stage.model.requests.find(({ last }) => /This is the step/.test(last)), "the step");
        await first.send("abort");
        await first.until(() => first.widget.find((line) => /paused/.test(line)), "the pause");
        // The step waits.
        const compacted = await first.send("compact");
        assert.equal(compacted["success"], true, JSON.stringify(compacted));
        await first.prompt("/workflow resume");
        await first.message("decision");
        // The question waits.
        await first.until(() => first.widget.find((line) => /Waits for you/.test(line)), "the question");
        const { data } = await first.send("get_fork_messages");
        const { entryId } =
          (data as { messages: { entryId: string }[] }).messages.at(-1) ?? assert.fail("nothing to fork");
        const forked = await first.send("fork", { entryId });
        assert.equal(forked["success"], true, JSON.stringify(forked));
        await first.until(() => first.probed.find(({ session }) => session === "fork"), "the fork");
        const [decision] = (await world.client.call("decision.list", { all: false })).decisions;
        await first.prompt(`/workflow answer ${decision?.fingerprint ?? ""} approve`);
        await first.notice(/is asked in this session/);
        const second = world.pi({ sessionId: "origin" });
        await approve(world, second);
        await assertOnce(second, 2);
        assert.deepEqual(await first.ours("terminal"), []);
        assert.ok(first.alive && second.alive);
      }),
  },
];
