/** Each stage × each event as a case of `npm run test:pi -- --full`: after it everything goes on to its end, and is there once. */
import { setTimeout as sleep } from "node:timers/promises";
import type { Case } from "../cases/case.ts";
import { obliging } from "../cases/sessions.ts";
import { LastingSession } from "../sessions/lasting.ts";
import type { PiRpc } from "../sessions/pi-rpc.ts";
import { adapterPid, serverPid, signal } from "../sessions/processes.ts";
import { inWorld, type World } from "../sessions/world.ts";
import { HeldModel } from "./held-model.ts";
import { STAGES, type KillStage } from "./stages.ts";

/** Shorter than a case may take, so that it can tell what is missing. */
const STUCK_MS = 40_000;

/** What happens in a stage; what it gives is waited for when the stage is let go on. */
type Happens = (world: World, session: LastingSession) => Promise<(() => Promise<unknown>) | void>;

const EVENTS: Readonly<Record<string, Happens>> = {
  "Pi is killed": (_world, session) => session.killPi(),
  "server is killed": (world) => killed(serverPid(world)),
  "adapter is killed": async (world) => killed(await adapterPid(world)),
  "Pi's extensions are loaded anew": (_world, session) =>
    parted(session, () => session.pi.prompt("/probe-reload"), "reload"),
  "the person leaves for a new session and comes back": async (_world, session) => {
    const left = await parted(session, () => session.pi.send("new_session"), "new");
    return async () => {
      await left();
      await session.killPi();
    };
  },
};

/** One event each. */
export const STAGE_CASES: readonly Case[] = STAGES.flatMap((stage) =>
  Object.keys(EVENTS).map((event) => stageCase(stage, event)),
);

function stageCase(stage: KillStage, event: string): Case {
  const model = new HeldModel(obliging);
  return {
    name: `${stage.name}: ${event}`,
    model: model.script,
    run: (where) =>
      inWorld(where, { pi: { rpcAnswers: true }, audiences: { operators: ["pi", "terminal"] } }, async (world) => {
        // The session starts the next server, which nobody else would stop.
        world.scope.add(() => world.client.call("server.stop", {}).catch(() => undefined));
        const session = new LastingSession(world, "staged", STUCK_MS);
        const { letGoOn, runId } = await stage.reach({ world, session, model });
        const over = await EVENTS[event]?.(world, session);
        letGoOn();
        await over?.();
        await session.finish(runId);
        const found = await session.check();
        if (found.length > 0) throw new Error(found.join("\n"));
      }),
  };
}

/** Pi is told to part with this instance of the extension: at once, or when it has been let go on, and again where it refuses as long as a turn goes on. */
function parted(session: LastingSession, say: () => Promise<unknown>, reason: string): Promise<() => Promise<unknown>> {
  const { pi } = session;
  const ask = (): void => void say().catch(() => undefined);
  const done = (): boolean => pi.probed.some((one) => one.session === reason);
  ask();
  return Promise.resolve(async () => {
    let refused = 0;
    for (const end = Date.now() + STUCK_MS; !done(); await sleep(100)) {
      if (Date.now() > end) throw new Error(`Pi did not take up the ${reason}`);
      if (refusals(pi) === refused) continue;
      refused += 1;
      ask();
    }
  });
}

/** How often Pi has said that a turn must be over first. */
function refusals(pi: PiRpc): number {
  return pi.records.filter(({ error }) => typeof error === "string" && error.includes("Wait for the current response"))
    .length;
}

function killed(pid: number): Promise<void> {
  if (!signal(pid, "SIGKILL")) throw new Error("there was nobody to kill");
  return Promise.resolve();
}
