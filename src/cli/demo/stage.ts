/**
 * The demo's stage: a temporary home with its own configuration, the Bot API stand-in and the server as children, and
 * a client. Everything on it is gone when the demo ends.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { connect, type HoldpointClient } from "../../client/index.ts";
import { serverEntry } from "../../client/start.ts";
import { startChild, type DemoChild } from "./children.ts";
import { StandIn } from "./stand-in.ts";

/** The one person of the demo, and the name of the bot. */
export const PERSON = { id: 1_001, name: "Ann" } as const;
export const BOT = "Holdpoint demo";
const PROFILE = "demo";
/** The audience that the example asks. */
const AUDIENCE = "operators";

interface Milestone {
  readonly at: number;
  readonly text: string;
}

export interface Stage {
  readonly home: string;
  readonly standInPid: number;
  readonly serverPid: number;
  readonly standIn: StandIn;
  readonly client: HoldpointClient;
  readonly milestones: readonly Milestone[];
  /** Rejects never; resolves when the server or the stand-in has ended. */
  readonly broken: Promise<string>;
}

/** Things to undo, last first; each is undone once, whatever the others do. */
export class Undo {
  readonly #steps: (() => unknown)[] = [];

  add(step: () => unknown): void {
    this.#steps.push(step);
  }

  async all(): Promise<void> {
    for (let step = this.#steps.pop(); step !== undefined; step = this.#steps.pop()) {
      try {
        await step();
      } catch {
        // The rest must still be undone; a leftover in the temporary folder is the worst that can be.
      }
    }
  }
}

/** Builds the stage. What it made is registered in `undo` before anything can fail. */
export async function buildStage(undo: Undo, signal: AbortSignal, say: (text: string) => void): Promise<Stage> {
  const milestones: Milestone[] = [];
  const mark = (text: string): void => void milestones.push({ at: Date.now(), text });
  const home = await mkdtemp(join(tmpdir(), "holdpoint-demo-"));
  undo.add(() => rm(home, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));

  say("Starting the Bot API stand-in (instead of Telegram) …");
  const env = childEnvironment(home);
  const phone = await startChild({
    what: "The Bot API stand-in",
    entry: fileURLToPath(new URL("../../../adapters/telegram/sim/main.js", import.meta.url)),
    env,
    firstLine: JSON.stringify(standInOptions()),
    signal,
  });
  undo.add(() => phone.end());
  mark(`Bot API stand-in ready (pid ${phone.pid})`);
  await writeHome(home, Number(phone.ready["port"]), String(phone.ready["token"]));

  say("Starting the server in a temporary home …");
  const server = await startServerChild(env, signal);
  undo.add(() => server.end());
  mark(`Server ready (pid ${server.pid})`);
  const client = await connect({ home });
  undo.add(() => client.close());
  return {
    home,
    standInPid: phone.pid,
    serverPid: server.pid,
    standIn: new StandIn(Number(phone.ready["controlPort"]), PERSON.id, signal),
    client,
    milestones,
    broken: Promise.race([
      phone.gone.then(() => "the Bot API stand-in ended"),
      server.gone.then(() => "the server ended"),
    ]),
  };
}

function startServerChild(env: NodeJS.ProcessEnv, signal: AbortSignal): Promise<DemoChild> {
  const ready = { ...env, HOLDPOINT_READY_LINE: "1", HOLDPOINT_END_WITH_STDIN: "1" };
  return startChild({ what: "The server", entry: serverEntry(), env: ready, signal });
}

/** The person's own settings must not reach the demo's server: neither its home nor test seams. */
function childEnvironment(home: string): NodeJS.ProcessEnv {
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("HOLDPOINT_")));
  return { ...env, HOLDPOINT_HOME: home };
}

function standInOptions(): object {
  return {
    bot: { firstName: BOT, username: "holdpoint_demo_bot" },
    users: [{ id: PERSON.id, firstName: PERSON.name }],
    chats: [{ id: PERSON.id, type: "private" }],
  };
}

async function writeHome(home: string, port: number, token: string): Promise<void> {
  const tokenFile = join(home, "telegram-token");
  const id = String(PERSON.id);
  const config = {
    schema: "holdpoint.config.v1",
    people: { ann: { name: PERSON.name, telegram: [id] } },
    audiences: { [AUDIENCE]: { destinations: [`telegram:${PROFILE}/${id}`], people: ["ann"] } },
    telegramProfiles: {
      [PROFILE]: { tokenFile, allowedUserIds: [id], allowedChatIds: [id], apiRoot: `http://127.0.0.1:${port}` },
    },
    timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
  await writeFile(tokenFile, `${token}\n`, { mode: 0o600 });
  await writeFile(join(home, "config.json"), `${JSON.stringify(config, null, 2)}\n`, { mode: 0o600 });
}
