/** Scenarios about a run of a Pi session: a step that its agent does, and one that it never finishes. */
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

import type { FakeSession } from "../../harness/pi-session.ts";
import { StaySession } from "../pi-session.ts";
import type { Stage } from "../stage.ts";
import { runOf, untilEnded, type Scenario } from "./scenario.ts";

const SESSION = fileURLToPath(new URL("../workflows/session.workflow.ts", import.meta.url));
/** Pause between two looks; nothing depends on it. */
const LOOK_MS = 100;
const TURN = "turn-of-the-person";

/** The last message of the step, once it is there. */
async function step(session: FakeSession, count: number): Promise<{ messageId: string; requestId: string }> {
  const { delivery } = await session.has("step", count);
  const { message } = delivery.details;
  if (message.kind !== "step") throw new Error("no step");
  return { messageId: delivery.messageId, requestId: message.requestId };
}

const begin = (session: FakeSession, turnId: string, messageId: string | null) => {
  session.standing({ idle: false });
  const cause = messageId === null ? ({ kind: "user" } as const) : ({ kind: "message", messageId } as const);
  return session.call({ type: "turn.start", turnId, cause });
};

/** Reserved in a turn whose end nobody tells; its step is refused once, then accepted; the ended run is cleared. */
const session: Scenario = {
  async play(stage) {
    await stage.start();
    const pi = new StaySession(stage);
    // The session has no file yet: what is shown in it could be lost with it, and counts when the file has it.
    pi.file.durable = false;
    await pi.do("the turn that starts it", (one) => begin(one, TURN, null));
    const runId = await startFrom(stage, "session", TURN);
    // Without its session the run does not wait for the end of that turn.
    await pi.lose();
    const { messageId, requestId } = await pi.do("the step's message", (one) => step(one, 1));
    pi.file.durable = true;
    await pi.do("its file", (one) => one.branch());
    await pi.do("the step", async (one) => {
      await begin(one, "turn-1", messageId);
      const update = { type: "note", key: "plan", data: { text: "thinking" } };
      await one.call({ type: "update", toolCallId: "call-1", requestId, update });
      const said = { at: 1, kind: "turn_started", entryId: null, data: { turnId: "turn-1" } } as const;
      await one.call({ type: "capture", runId, instance: "i-1", first: 0, records: [said], dropped: 0 });
      const refused = await one.submit(requestId, { nothing: true }, "call-2");
      if (refused.ok) throw new Error("a wrong result was accepted");
      let taken = await one.submit(requestId, { plan: "blue" }, "call-3");
      // An agent that is told that nothing is known of its result hands it in again.
      for (let call = 4; !taken.ok && taken.text.startsWith("Checking the result failed"); call += 1)
        taken = await one.submit(requestId, { plan: "blue" }, `call-${call}`);
      if (!taken.ok) throw new Error(`a right result was refused: ${taken.text}`);
    });
    // Its last message waits while the turn goes on.
    await untilEnded(stage, runId);
    await pi.do("the end of its turn", (one) => one.endTurn("turn-1").then(() => one.has("terminal")));
    await pi.do("out of sight", (one) => one.call({ type: "clear" }));
    return new Map([[runId, { status: "completed", decisions: [], actions: ["note"] }]]);
  },
};

/** A turn whose end is never told, and then one that takes too long. */
const tardy: Scenario = {
  options: { clock: true },
  async play(stage) {
    await stage.start();
    const pi = new StaySession(stage);
    const runId = await startFrom(stage, "tardy", null);
    const first = await pi.do("the step", (one) => step(one, 1));
    await pi.do("its turn", (one) => begin(one, "turn-1", first.messageId));
    await pi.lose();
    const second = await withTime(stage, 1_000, () =>
      pi.do("the second message", async (one) => {
        await one.branch();
        return step(one, 2);
      }),
    );
    // Pi is in it, whatever becomes of the server, and says so when it returns.
    pi.file.turn = { turnId: "turn-2", activeMs: 0 };
    await pi.do("its second turn", (one) => begin(one, "turn-2", second.messageId));
    await withTime(stage, 61_000, () =>
      stage.until("the end of its time", (world) => runOf(world, runId).run.finishedAt !== null),
    );
    await pi.do("the end of its second turn", (one) => one.endTurn("turn-2").then(() => one.has("terminal")));
    return new Map([[runId, { status: "timed_out", decisions: [], actions: [] }]]);
  },
};

async function startFrom(stage: Stage, title: string, turn: string | null): Promise<string> {
  const folder = stage.folder(title);
  const { runId } = await stage.call("run.start", {
    workflow: "session",
    workflowPath: SESSION,
    projectPath: folder,
    input: { title, folder },
    origin: { session: "s-1", turn, mode: "interactive" },
  });
  stage.runIds.push(runId);
  return runId;
}

/** Lets time pass until something is done. */
async function withTime<T>(stage: Stage, ms: number, work: () => Promise<T>): Promise<T> {
  const working = work().then((value) => ({ value }));
  for (;;) {
    await stage.advance(ms);
    const done = await Promise.race([working, sleep(LOOK_MS, null)]);
    if (done !== null) return done.value;
  }
}

export const sessions = { session, tardy } as const;
