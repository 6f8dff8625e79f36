/** A Pi session that stays connected: its extension returns whenever its connection is lost, and what is done in it is done again until it is done. */
import { setTimeout as sleep } from "node:timers/promises";

import { FakeSession, SessionFile } from "../harness/pi-session.ts";
import { HANG_MS } from "../harness/index.ts";
import type { Stage } from "./stage.ts";

const AGAIN_MS = 25;

export class StaySession {
  readonly file = new SessionFile("s-1");
  readonly #stage: Stage;
  #session: FakeSession | null = null;
  #ended = false;

  constructor(stage: Stage) {
    this.#stage = stage;
    stage.scope.add(() => {
      this.#ended = true;
      this.#session?.disconnect();
    });
    void this.#stay();
  }

  /** Does something in the session, again after every loss of its connection. */
  async do<T>(what: string, work: (session: FakeSession) => Promise<T>): Promise<T> {
    let until = Date.now() + HANG_MS;
    for (let before = this.#stage.reached.length; ; await sleep(AGAIN_MS)) {
      const session = this.#session;
      const reached = this.#stage.reached.length;
      // Whatever was struck has its own time to come back.
      if (reached > before) until = Date.now() + HANG_MS;
      before = reached;
      try {
        if (session !== null) return await work(session);
      } catch (error) {
        if (!/connection ended/.test(String(error))) throw error;
      }
      if (Date.now() > until) throw new Error(`stuck: ${what} was not done in the session`);
    }
  }

  /** The connection is lost once; the extension returns by itself. */
  async lose(): Promise<void> {
    await this.do("the loss of its connection", async (one) => {
      one.disconnect();
      await one.closed;
    });
    this.#session = null;
  }

  /** Pi stays open whatever happens to the server. */
  async #stay(): Promise<void> {
    while (!this.#ended) {
      try {
        const { socket } = await this.#stage.call("pi.open", {});
        const session = await FakeSession.greet(socket, this.file);
        await session.until(() => session.view !== undefined, "the first view");
        await session.branch();
        this.#session = session;
        await session.closed;
      } catch {
        // The server or the adapter is away; it comes back.
      }
      this.#session = null;
      await sleep(AGAIN_MS);
    }
  }
}
