/** What the tests of sessions share: a session opened as its extension would, and a run that is started from it. */
import { FakeSession, type SessionFile, type SessionOptions } from "../../harness/pi-session.ts";
import type { World } from "../runs/world.ts";

export class Stage {
  readonly world: World;
  readonly file: SessionFile;
  readonly #sessions: FakeSession[] = [];

  constructor(world: World, file: SessionFile) {
    this.world = world;
    this.file = file;
  }

  get socket(): Promise<string> {
    return this.world.call("pi.open", {}).then(({ result }) => result.socket);
  }

  /** Connects as an extension does: again, while the adapter that it was told of has just died. */
  async open(options: SessionOptions = {}): Promise<FakeSession> {
    const session = await this.world.when(
      () =>
        this.socket
          .then((path) => FakeSession.open(path, this.file, options))
          .catch((error: { code?: string }) => {
            if (error.code === "ENOENT" || error.code === "ECONNREFUSED") return undefined;
            throw error;
          }),
      () => "the session could not connect",
    );
    this.#sessions.push(session);
    return session;
  }

  /** Starts a workflow file of the world from the session; `origin` null = from nowhere. */
  async start(
    name: string,
    origin: { session?: string; turn?: string | null; mode?: "interactive" | "headless" } | null = {},
  ): Promise<string> {
    const { folder } = this.world;
    const from = { session: this.file.sessionId, turn: null, mode: "interactive" as const, ...origin };
    const payload = {
      workflow: name,
      workflowPath: `${folder}/${name}.workflow.ts`,
      projectPath: folder,
      input: {},
      ...(origin === null ? {} : { origin: from }),
    };
    return (await this.world.call("run.start", payload)).result.runId;
  }

  async close(): Promise<void> {
    for (const session of this.#sessions) session.disconnect();
    await this.world.close();
  }
}
