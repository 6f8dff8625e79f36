/**
 * What a runner does while the server stores its `ready`: it executes a workflow of its own in memory, so that the engine, the
 * stream of steps and the parsing of frames are compiled when the first real step comes. It ends as soon as it is not needed.
 */
import { toRunnerSchema, type FromRunner } from "../contracts/protocol/runner.ts";
import { decodeFrame, encodeFrame } from "../contracts/wire/frames.ts";
import { Engine } from "../workflow/engine/index.ts";
import { compute, defineWorkflow } from "../workflow/index.ts";
import { ServerHost } from "./server-host.ts";

/** Steps of one round: about a millisecond of a cold engine, which is how late `go` may be noticed. */
const ROUND_STEPS = 16;
/** After this many rounds more of them change nothing. */
const ROUNDS = 24;

const WORKFLOW = defineWorkflow({
  name: "rehearsal",
  startAt: "step",
  maxSteps: ROUND_STEPS,
  nodes: {
    step: compute({
      run: ({ outputs }) => {
        const done = (outputs["step"] as { done?: number } | undefined)?.done ?? 0;
        return { done: done + 1, more: done + 2 < ROUND_STEPS };
      },
    }),
    last: compute({ run: ({ outputs }) => outputs["step"] ?? null }),
  },
  edges: [{ from: "step", switch: { on: "$.more", cases: { true: "step", false: "last" } } }],
});

/** What is compiled once stays so for every later launch of this process. */
let rehearsed = false;

/** Rehearses until `needed` says no, or there is nothing more to gain. Never takes longer than a round without giving way. */
export async function rehearse(needed: () => boolean): Promise<void> {
  if (rehearsed) return;
  rehearsed = true;
  const position = { nodeId: "step", step: 0, visit: 1, interrupted: false };
  decodeFrame(JSON.stringify({ type: "go", position, visits: { step: 1 } }), toRunnerSchema);
  for (let round = 0; round < ROUNDS; round += 1) {
    // oxlint-disable-next-line no-await-in-loop -- one after the other, with turns for the pipe between them
    await new Promise((resolve) => setImmediate(resolve));
    if (!needed()) return;
    // oxlint-disable-next-line no-await-in-loop
    await playRound();
  }
}

async function playRound(): Promise<void> {
  const host = new ServerHost((...frames) => {
    for (const frame of frames) {
      encodeFrame(frame);
      queueMicrotask(() => reply(frame));
    }
  });
  const engine = new Engine({ definition: WORKFLOW, input: null, host });
  const reply = (frame: FromRunner): void => {
    if (frame.type === "finish") host.answer({ type: "reply", messageId: frame.messageId, ok: true });
    if (frame.type !== "advance") return;
    const text = JSON.stringify({ type: "ack", through: frame.first + frame.entries.length - 1 });
    const ack = decodeFrame(text, toRunnerSchema);
    if (ack.type !== "ack") return;
    engine.acknowledge(ack.through);
    host.acknowledge(ack.through);
  };
  await engine.run();
}
