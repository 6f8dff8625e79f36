/**
 * The long run of `npm run test:pi -- --full`: many runs over five sessions of real Pi, while Pi, the server and the adapter are killed at random.
 * Afterwards every message of ours must be once on its session, every step and decision answered once, and no Pi may have ended by itself.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { obliging } from "./cases/sessions.ts";
import type { MockServer } from "./mock-model.ts";
import { LastingSession } from "./sessions/lasting.ts";
import { adapterPid, serverPid, signal } from "./sessions/processes.ts";
import { inWorld } from "./sessions/world.ts";
import { Stage } from "./stage.ts";

export interface SoakResult {
  readonly runs: number;
  readonly kills: number;
  readonly violations: readonly string[];
}

/** Sessions at once. */
const SESSIONS = 5;
/** A run that takes longer is stuck: what is killed comes back within seconds. */
const STUCK_MS = 180_000;
/** Between two kills. */
const KILL_MS = { least: 500, most: 2_500 };

export async function soak(
  command: readonly string[],
  server: MockServer,
  { say, seed, total }: { readonly total: number; readonly seed: number; readonly say: (line: string) => void },
): Promise<SoakResult> {
  const stage = new Stage("soak", command, server, obliging);
  const violations: string[] = [];
  let kills = 0;
  let runs = 0;
  try {
    await inWorld(stage, { pi: { rpcAnswers: true } }, async (world) => {
      const random = generator(seed);
      const sessions = Array.from(
        { length: SESSIONS },
        (_, index) => new LastingSession(world, `soak-${index}`, STUCK_MS),
      );
      world.scope.add(() => world.client.call("server.stop", {}).catch(() => undefined));
      const over = new AbortController();
      const killing = (async () => {
        while (!over.signal.aborted) {
          await sleep(KILL_MS.least + random() * (KILL_MS.most - KILL_MS.least));
          if (over.signal.aborted) return;
          const which = random();
          const session = sessions[Math.floor(random() * SESSIONS)] as LastingSession;
          if (which < 0.4) await session.killPi();
          // Who is only just being started again cannot be killed.
          else if (!signal(which < 0.7 ? await adapterPid(world) : serverPid(world), "SIGKILL")) continue;
          kills += 1;
        }
      })();
      const lane = async (session: LastingSession, count: number): Promise<void> => {
        for (let n = 0; n < count; n += 1) {
          try {
            await session.finish(await session.start("deploy"));
            runs += 1;
            say(`soak: ${runs} of ${total} runs, ${kills} kills`);
          } catch (error) {
            violations.push(`${session.id}: ${error instanceof Error ? error.message : String(error)}`);
            // Its session has that run until it ends.
            return;
          }
        }
      };
      await Promise.all(
        sessions.map((session, index) => lane(session, Math.floor((total + SESSIONS - 1 - index) / SESSIONS))),
      );
      over.abort();
      await killing;
      for (const session of sessions) violations.push(...(await session.check()));
    });
  } catch (error) {
    violations.push(`the soak itself: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  } finally {
    stage.close();
  }
  return { runs, kills, violations };
}

/** Numbers in [0, 1) that are the same for the same seed. */
function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
