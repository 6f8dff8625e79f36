/** Each stage × each victim as a case of `npm run test:pi -- --full`: after the kill everything goes on to its end, and is there once. */
import type { Case } from "../cases/case.ts";
import { obliging } from "../cases/sessions.ts";
import { LastingSession } from "../sessions/lasting.ts";
import { adapterPid, serverPid, signal } from "../sessions/processes.ts";
import { inWorld, type World } from "../sessions/world.ts";
import { HeldModel } from "./held-model.ts";
import { STAGES, type KillStage } from "./stages.ts";

/** Shorter than a case may take, so that it can tell what is missing. */
const STUCK_MS = 40_000;

const VICTIMS: Readonly<Record<string, (world: World, session: LastingSession) => Promise<void>>> = {
  Pi: (_world, session) => session.killPi(),
  server: (world) => killed(serverPid(world)),
  adapter: async (world) => killed(await adapterPid(world)),
};

/** One kill each. */
export const STAGE_CASES: readonly Case[] = STAGES.flatMap((stage) =>
  Object.keys(VICTIMS).map((victim) => stageCase(stage, victim)),
);

function stageCase(stage: KillStage, victim: string): Case {
  const model = new HeldModel(obliging);
  return {
    name: `${stage.name}: ${victim} is killed`,
    model: model.script,
    run: (where) =>
      inWorld(where, { pi: { rpcAnswers: true }, audiences: { operators: ["pi", "terminal"] } }, async (world) => {
        // The session starts the next server, which nobody else would stop.
        world.scope.add(() => world.client.call("server.stop", {}).catch(() => undefined));
        const session = new LastingSession(world, "staged", STUCK_MS);
        const { letGoOn, runId } = await stage.reach({ world, session, model });
        await VICTIMS[victim]?.(world, session);
        letGoOn();
        await session.finish(runId);
        const found = await session.check();
        if (found.length > 0) throw new Error(found.join("\n"));
      }),
  };
}

function killed(pid: number): Promise<void> {
  if (!signal(pid, "SIGKILL")) throw new Error("there was nobody to kill");
  return Promise.resolve();
}
