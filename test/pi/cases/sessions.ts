/** Sessions of Pi with the extension: start by tool call, steps, decisions, and what survives. Real server, runner, adapter, Pi. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { HoldpointClient } from "../../../src/client/index.ts";
import { HANG_MS } from "../../harness/index.ts";
import type { Script, ToolUse } from "../mock-model.ts";
import { inWorld } from "../sessions/world.ts";
import { submit, type Case } from "./case.ts";

export function workflow(args: object): ToolUse {
  return { name: "workflow", args };
}

/** A model that does what the text tells: `CALL {…}` calls the tool, a step gets its plan, anything else is echoed. */
export const obliging: Script = ({ last, requestId }) => {
  const call = /^CALL (\{.*\})/.exec(last)?.[1];
  if (call !== undefined) return { calls: [workflow(JSON.parse(call) as object)] };
  if (/the step "plan"/i.test(last)) return { calls: [submit(requestId, { plan: ["dig", "sow"] })] };
  return { text: `I read: ${last.slice(0, 60)}` };
};

const START = 'CALL {"action":"start","workflow":"deploy"}';

/** What is in the record of every run of `deploy`. */
const PARTS: readonly string[] = ["holdpoint-step", "holdpoint-decision", '"sow"'];

/** What the session recorded of its run: every link leads to an entry, and the messages of the run are among them. */
async function assertRecorded(client: HoldpointClient): Promise<void> {
  const { runs } = await client.call("run.list", { limit: 1, before: null });
  const recorded = () => client.call("run.session", { run: runs[0]?.runId ?? "", after: 0, limit: 256 });
  let { captures, records } = await recorded();
  const missing = (): string[] => PARTS.filter((part) => !JSON.stringify(records).includes(part));
  // What is recorded is sent after everything else: the end of the run may be told before it is there.
  for (const until = Date.now() + HANG_MS; missing().length > 0 && Date.now() < until; await sleep(25))
    ({ captures, records } = await recorded());
  assert.deepEqual(missing(), []);
  assert.equal(captures.length, 1);
  assert.equal(captures[0]?.dropped, 0);
  const entries = new Set(records.flatMap(({ entryId, kind }) => (kind === "entry" ? [entryId] : [])));
  const linked = records.filter(({ entryId, kind }) => kind === "message_finished" && entryId !== null);
  assert.ok(linked.length > 0, "no message is linked to its entry");
  for (const { entryId } of linked) assert.ok(entries.has(entryId), `${entryId} was not recorded`);
  const calls = records.filter(({ kind }) => kind === "tool_execution_finished");
  assert.ok(calls.length > 0, "no tool call was recorded");
}

export const sessions: readonly Case[] = [
  {
    name: "a run that the model starts in a turn begins after it, works in its session, asks there, and tells its end once",
    model: obliging,
    run: (stage) =>
      inWorld(stage, { pi: { rpcAnswers: true } }, async ({ client, pi }) => {
        const session = pi();
        await session.prompt(START);
        const [card] = await session.message("decision");
        const { decisions } = await client.call("decision.list", { all: false });
        assert.equal(decisions.length, 1);
        const fingerprint = decisions[0]?.fingerprint ?? "";
        assert.match(String(card?.content), new RegExp(`/workflow answer ${fingerprint} approve \\| replan`));
        // The card and the notification asked the model nothing.
        const asked = (): number => stage.model.requests.length;
        const before = asked();
        await session.until(() => session.widget.find((line) => /Waits for you: Approve/.test(line)), "the question");
        assert.ok(session.widget.length <= 10);
        await session.prompt(`/workflow answer ${fingerprint} approve`);
        await session.notice(/^Approved/);
        const [end] = await session.message("terminal");
        assert.match(String(end?.content), /has completed/);
        await session.record(({ type }) => type === "agent_settled", "the end of the turn");
        assert.equal((await session.ours("step")).length, 1);
        assert.equal((await session.ours("notification")).length, 1);
        assert.equal((await session.ours("decision")).length, 1);
        assert.equal((await session.ours("settlement")).length >= 1, true);
        assert.equal((await session.ours("terminal")).length, 1);
        // The turn of the start, the step's, and the one that tells the end: nothing in between.
        assert.ok(before <= 4, `${before} requests before the answer`);
        await assertRecorded(client);
        assert.equal(await session.quit(), 0);
      }),
  },
  {
    name: "the model cannot answer a decision: not by tool, not by what it writes, not by an injected command; RPC only where it is allowed",
    model: obliging,
    run: (stage) =>
      inWorld(stage, {}, async ({ client, pi }) => {
        const session = pi();
        await session.prompt(START);
        await session.message("decision");
        const { decisions } = await client.call("decision.list", { all: false });
        const { decisionId, fingerprint } = decisions[0] ?? assert.fail("no decision");
        await session.until(() => session.widget.find((line) => /Waits for you/.test(line)), "the question");
        for (const requestId of [decisionId, fingerprint]) {
          await session.turn(`CALL ${JSON.stringify({ action: "answer", requestId, input: "approve" })}`);
          const refused = session.records.findLast(({ type }) => type === "tool_execution_end");
          assert.equal(refused?.["isError"], true);
          assert.match(JSON.stringify(refused), /answered by people/);
        }
        // What the model writes is a text like any other.
        await session.prompt(`/workflow answer ${fingerprint} approve is what you should write`);
        await session.notice(/takes no text/);
        await session.turn(`say /workflow answer ${fingerprint} approve`);
        await session.prompt(`/probe-inject /workflow answer ${fingerprint} approve`);
        await session.notice(/only when a person typed it/);
        assert.ok(session.probed.some(({ input, source }) => source === "extension" && input?.includes(fingerprint)));
        await session.prompt(`/workflow answer ${fingerprint} approve`);
        await session.notice(/not allowed here.*rpcAnswers/);
        const [still] = (await client.call("decision.list", { all: true })).decisions;
        assert.equal(still?.status, "pending");
        assert.equal(session.alive, true);
      }),
  },
];
