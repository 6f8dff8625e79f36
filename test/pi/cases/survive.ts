/** Sessions that survive: processes that are killed, sessions that are left, turns that are aborted. Nothing is shown or done twice. */
import assert from "node:assert/strict";
import type { Script } from "../mock-model.ts";
import { adapterPid, signal } from "../sessions/processes.ts";
import { inWorld, type World } from "../sessions/world.ts";
import type { PiRpc } from "../sessions/pi-rpc.ts";
import { submit, type Case } from "./case.ts";
import { obliging } from "./sessions.ts";

const START = 'CALL {"action":"start","workflow":"deploy"}';
const RPC = { pi: { rpcAnswers: true } };

/** The model hangs in its first turn of the step, and does the step afterwards. */
export function hangingOnce(): Script {
  let hung = false;
  return (request) => {
    if (!hung && /This is the step/.test(request.last)) {
      hung = true;
      return { text: "I begin", hang: true };
    }
    return obliging(request);
  };
}

/** The session came to its end with each message of ours once. */
export async function assertOnce(session: PiRpc, steps: number): Promise<void> {
  const all = await session.ours();
  const ids = all.map(({ data, details }) => (details ?? data)?.messageId);
  assert.equal(new Set(ids).size, ids.length, `a message is there twice: ${ids.join(", ")}`);
  const kinds = all.map(({ data, details }) => (details ?? data)?.message?.kind);
  const count = (kind: string): number => kinds.filter((one) => one === kind).length;
  assert.deepEqual(
    {
      step: count("step"),
      notification: count("notification"),
      decision: count("decision"),
      terminal: count("terminal"),
    },
    { step: steps, notification: 1, decision: 1, terminal: 1 },
  );
}

export async function approve({ client }: World, session: PiRpc): Promise<void> {
  await session.message("decision");
  const { decisions } = await client.call("decision.list", { all: false });
  const fingerprint = decisions[0]?.fingerprint ?? assert.fail("no decision");
  await session.until(() => session.widget.find((line) => line.includes(fingerprint)), "the question");
  await session.prompt(`/workflow answer ${fingerprint} approve`);
  await session.notice(/^Approved/);
  await session.message("terminal");
  const { decisions: all } = await client.call("decision.list", { all: true });
  assert.deepEqual(
    all.map(({ resolution }) => resolution?.choice),
    ["approve"],
  );
}

/** Waits until a server answers again; the hang limit of the case ends a wait in vain. */
async function back({ client }: World): Promise<void> {
  for (;;) {
    const found = await client.call("server.status", {}).catch(() => null);
    if (found !== null) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

export const survive: readonly Case[] = [
  {
    name: "Pi is killed in the middle of a step: the next Pi of the session gets it once more, and everything else once",
    model: hangingOnce(),
    run: (stage) =>
      inWorld(stage, RPC, async (world) => {
        const first = world.pi({ sessionId: "survivor" });
        await first.prompt(START);
        await first.until(() => stage.model.requests.find(({ last }) => /This is the step/.test(last)), "the step");
        await first.kill();
        const second = world.pi({ sessionId: "survivor" });
        await approve(world, second);
        await assertOnce(second, 2);
        const reasons = (await second.ours("step")).map(({ details }) => details?.message?.reason);
        assert.equal(reasons[0], "initial");
        assert.equal(await second.quit(), 0);
      }),
  },
  {
    name: "server and adapter are killed while a session waits: it comes back by itself, and everything is there once",
    model: obliging,
    run: (stage) =>
      inWorld(stage, RPC, async (world) => {
        const session = world.pi({ sessionId: "patient" });
        await session.prompt(START);
        await session.message("decision");
        assert.ok(signal(await adapterPid(world), "SIGKILL"));
        await world.server.kill();
        // The session starts the next one, which nobody else would stop.
        await session.notice(/starting the server/);
        await back(world);
        world.scope.add(() => world.client.call("server.stop", {}));
        await approve(world, session);
        assert.ok(signal(await adapterPid(world), "SIGKILL"));
        await assertOnce(session, 1);
        assert.equal(session.alive, true);
      }),
  },
  {
    name: "Escape in a step's turn pauses the run once; resume gives one message and one turn; tools that the step does not allow are refused",
    model: (() => {
      let turn = 0;
      return (request) => {
        if (!/the step "plan"|goes on here/.test(request.last)) return obliging(request);
        turn += 1;
        if (turn === 1) return { text: "I think", hang: true };
        if (turn === 2) return { calls: [{ name: "bash", args: { command: "echo forbidden > forbidden.txt" } }] };
        return { calls: [submit(request.requestId, { plan: ["dig"] })] };
      };
    })() satisfies Script,
    run: (stage) =>
      inWorld(stage, RPC, async (world) => {
        const session = world.pi();
        await session.prompt(START);
        await session.until(() => stage.model.requests.find(({ last }) => /This is the step/.test(last)), "the step");
        await session.send("abort");
        await session.until(() => session.widget.find((line) => /paused/.test(line)), "the pause");
        await session.prompt("/workflow resume");
        await session.notice(/goes on/);
        await session.record(
          ({ isError, toolName, type }) => type === "tool_execution_end" && toolName === "bash" && isError === true,
          "the refusal of the tool",
        );
        assert.match(
          JSON.stringify(session.records.findLast(({ toolName }) => toolName === "bash")),
          /not allowed in this step/,
        );
        await session.message("step", 3);
        await approve(world, session);
        const reasons = (await session.ours("step")).map(({ details }) => details?.message?.reason);
        assert.deepEqual(reasons, ["initial", "resumed", "reminder"]);
      }),
  },
  {
    name: "a new session, a reload and a walk through the tree end nothing and repeat nothing; a second Pi of a session takes it over",
    model: obliging,
    run: (stage) =>
      inWorld(stage, RPC, async (world) => {
        const first = world.pi({ sessionId: "shared" });
        await first.prompt(START);
        await first.message("decision");
        await first.prompt("/probe-reload");
        await first.until(() => first.probed.find(({ session }) => session === "reload"), "the reload");
        await first.prompt("/probe-root");
        await first.send("new_session");
        await first.until(() => first.probed.find(({ session }) => session === "new"), "the new session");
        assert.deepEqual(await first.ours(), []);
        assert.equal(first.alive, true);
        const second = world.pi({ sessionId: "shared" });
        const third = world.pi({ sessionId: "shared" });
        await Promise.race([
          second.notice(/does not follow this session/),
          third.notice(/does not follow this session/),
        ]);
        const owner = second.notices.some((text) => /does not follow/.test(text)) ? third : second;
        await approve(world, owner);
        await assertOnce(owner, 1);
        assert.ok(first.alive && second.alive && third.alive);
      }),
  },
];
