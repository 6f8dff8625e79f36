/**
 * How much later Pi answers because our extension is loaded: `npm run test:pi -- --full` tells it as a figure (`extensionLoadMs`, to be at most
 * 150). From the start of the process to its first answer, with the extension and without in turns, after one start of each that fills caches.
 */
import type { MockServer } from "./mock-model.ts";
import { obliging } from "./cases/sessions.ts";
import { EXTENSION } from "./sessions/pi-rpc.ts";
import { inWorld, type World } from "./sessions/world.ts";
import { Stage } from "./stage.ts";

const ROUNDS = 7;

/** Median milliseconds. */
export async function extensionLoadMs(command: readonly string[], server: MockServer): Promise<number> {
  const stage = new Stage("load", command, server, obliging);
  try {
    const more: number[] = [];
    await inWorld(stage, {}, async (world) => {
      await answerAfter(world, []);
      await answerAfter(world, [EXTENSION]);
      for (let round = 0; round < ROUNDS; round += 1) {
        const without = await answerAfter(world, []);
        more.push((await answerAfter(world, [EXTENSION])) - without);
      }
    });
    return Math.round(more.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)] as number);
  } finally {
    stage.close();
  }
}

async function answerAfter(world: World, extensions: readonly string[]): Promise<number> {
  const began = performance.now();
  const pi = world.pi({ extensions });
  await pi.send("get_state");
  const took = performance.now() - began;
  await pi.kill();
  return took;
}
