/** The controlled clock of a server: time stands still until the test moves it. */
import { createConnection } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

import type { TestHome } from "./home.ts";
import { guarded } from "./server.ts";

export interface TestClock {
  /** For the server's environment; a server that is started later goes on at the present time of this clock. */
  env(): { HOLDPOINT_TEST_CLOCK: string };
  /** Milliseconds since the epoch, as the server has it. */
  now(): number;
  /** Moves time on; what became due has run, in order, when this resolves. */
  advance(ms: number): Promise<void>;
  /** Moves time on in one step, as after a sleep of the machine; what became due has run once. */
  jump(ms: number): Promise<void>;
  /** Moves time on while no server runs. */
  leap(ms: number): void;
}

/** A clock for the server of a home, standing at `start` (milliseconds since the epoch; default: now). */
export function testClock(home: TestHome, start: number = Date.now()): TestClock {
  const socket = join(home.dir, "clock.sock");
  let now = start;
  const move = async (command: "advance" | "jump", ms: number): Promise<void> => {
    // A server that dies meanwhile may have written at the later time: the next one must not start before it.
    now += ms;
    await guarded(ask(socket, { [command]: ms }), `the clock did not ${command} by ${ms} ms`);
  };
  return {
    env: () => ({ HOLDPOINT_TEST_CLOCK: `${socket}@${now}` }),
    now: () => now,
    advance: (ms) => move("advance", ms),
    jump: (ms) => move("jump", ms),
    leap: (ms) => {
      now += ms;
    },
  };
}

function ask(path: string, command: object): Promise<{ now: number }> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path);
    socket.once("error", reject);
    socket.once("close", () => reject(new Error("the server ended before it answered")));
    const lines = createInterface({ input: socket });
    // An interface emits the errors of its input once more.
    lines.once("error", reject);
    lines.once("line", (line) => {
      socket.end();
      const reply = JSON.parse(line) as { now: number; error?: string };
      if (reply.error === undefined) resolve(reply);
      else reject(new Error(reply.error));
    });
    socket.write(`${JSON.stringify(command)}\n`);
  });
}
