/**
 * The controlled clock of tests: time stands still until the test advances it over a Unix socket
 * (`HOLDPOINT_TEST_CLOCK=<socket>`). Lines of JSON: `{"advance":ms}`, `{"jump":ms}` (as after a sleep of the machine) or
 * `{"now":true}` → `{"now":ms}` after everything that became due has run, in order.
 */
import { rm } from "node:fs/promises";
import { createServer, type Server } from "node:net";
import { createInterface } from "node:readline";
import { z } from "zod";
import type { Clock, Timer } from "../ports.ts";

const commandSchema = z.union([
  z.strictObject({ advance: z.number().int().nonnegative() }),
  z.strictObject({ jump: z.number().int().nonnegative() }),
  z.strictObject({ now: z.literal(true) }),
]);

interface Entry {
  readonly at: number;
  readonly order: number;
  readonly wake: () => void;
}

export class ControlledClock implements Clock {
  #now: number;
  #order = 0;
  readonly #timers = new Set<Entry>();
  #server: Server | undefined;
  /** Resolves when the work that a wake-up started is done; set by the server core. */
  settle: () => Promise<void> = () => Promise.resolve();

  constructor(start: number) {
    this.#now = start;
  }

  now(): number {
    return this.#now;
  }

  timer(at: number, wake: () => void): Timer {
    const entry: Entry = { at, order: this.#order++, wake };
    this.#timers.add(entry);
    return { cancel: () => this.#timers.delete(entry) };
  }

  /** Moves time forward; timers fire one by one at their own instant, each followed by `settle`. */
  async advance(ms: number): Promise<number> {
    const target = this.#now + ms;
    for (;;) {
      await this.settle();
      const due = [...this.#timers]
        .filter((entry) => entry.at <= target)
        .sort((a, b) => a.at - b.at || a.order - b.order)[0];
      if (!due) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.wake();
    }
    this.#now = target;
    await this.settle();
    return this.#now;
  }

  /** Moves time forward in one step, as after a sleep of the machine: every timer that is due fires late, at the new time. */
  async jump(ms: number): Promise<number> {
    this.#now += ms;
    return this.advance(0);
  }

  /** Serves the control socket; one command at a time per connection. */
  async serve(socketPath: string): Promise<void> {
    await rm(socketPath, { force: true });
    const server = createServer((socket) => {
      let chain = Promise.resolve();
      createInterface({ input: socket }).on("line", (line) => {
        chain = chain.then(() => this.#command(line)).then((reply) => void socket.write(`${JSON.stringify(reply)}\n`));
      });
      socket.on("error", () => socket.destroy());
    });
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(socketPath, resolve);
    });
  }

  async #command(line: string): Promise<object> {
    try {
      const command = commandSchema.parse(JSON.parse(line));
      if ("advance" in command) return { now: await this.advance(command.advance) };
      return { now: "jump" in command ? await this.jump(command.jump) : this.#now };
    } catch (error) {
      return { error: String(error) };
    }
  }

  close(): void {
    this.#server?.close();
  }
}
