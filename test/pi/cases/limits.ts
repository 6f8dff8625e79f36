/** Sessions at their limits: one that never has a file, one that has none yet, and a turn that takes longer than its step may. */
import assert from "node:assert/strict";
import { inWorld } from "../sessions/world.ts";
import type { Case } from "./case.ts";
import { obliging } from "./sessions.ts";
import { approve } from "./survive.ts";

export const limits: readonly Case[] = [
  {
    name: "a session that never has a file (--no-session) gets everything once, to the end",
    model: obliging,
    run: (stage) =>
      inWorld(stage, { pi: { rpcAnswers: true } }, async (world) => {
        const session = world.pi({ args: ["--no-session"] });
        await session.prompt('CALL {"action":"start","workflow":"deploy"}');
        await approve(world, session);
        const queued = async (): Promise<number | undefined> =>
          (await world.client.call("channel.status", {})).channels.find(({ channel }) => channel === "pi")?.queued;
        // The outcome of the last one is stored after it was shown. In vain, the case's own limit ends it.
        while ((await queued()) !== 0) await new Promise((resolve) => setTimeout(resolve, 20));
        const kinds = (await session.ours()).map(({ data, details }) => (details ?? data)?.message?.kind);
        for (const kind of ["step", "notification", "decision", "terminal"])
          assert.equal(kinds.filter((one) => one === kind).length, 1, `${kind}: ${kinds.join(", ")}`);
      }),
  },
  {
    name: "in a new session, which has no file, a message does not hold up the step behind it; a step out of time stops its turn",
    model: (request) => (/This is the step/.test(request.last) ? { text: "I begin", hang: true } : obliging(request)),
    run: (stage) =>
      inWorld(stage, {}, async (world) => {
        const session = world.pi();
        // A person's command: no turn, so no file.
        await session.prompt("/workflow brief");
        await session.message("step");
        await session.notice(/step that this turn works on is over/);
        await session.record(
          ({ aborted, type }) => type === "agent_settled" && aborted === true,
          "the stop of the turn",
        );
        const [end] = await session.message("terminal");
        assert.match(JSON.stringify(end?.details), /timed_out/);
        assert.deepEqual(
          (await session.ours()).map(({ details }) => details?.message?.kind),
          ["notification", "step", "terminal"],
        );
        assert.equal(session.alive, true);
      }),
  },
];
