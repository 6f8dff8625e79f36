/**
 * A local stand-in for the Telegram Bot API: an HTTP server on 127.0.0.1 that behaves as the official one does, keeps a
 * ledger of what people see, lets tests and the demo act as those people, and can fail in every way that a real network
 * and server fail. The official server's source is its specification.
 *
 * It owns: chats, messages, taps, the update queue, faults. It must not know anything of Holdpoint, depends on Node
 * alone, and never talks to any other machine.
 */
import type { Sim, SimOptions } from "./types.ts";
import { createControlDoor } from "./control-server.ts";
import { createFaults } from "./faults.ts";
import { pageDoor } from "./page.ts";
import { createPeople } from "./people.ts";
import { createBotApiServer, type SideDoor } from "./server.ts";
import { createLedger } from "./state.ts";
import { createUpdates } from "./updates.ts";
import { createWorld } from "./world.ts";

/**
 * Starts a stand-in in this process.
 * @throws Error when the port is taken, the token has no Telegram form, or a private chat has no person
 */
export async function startSim(options: SimOptions = {}): Promise<Sim> {
  const world = createWorld(options);
  const updates = createUpdates(world, options);
  const faults = createFaults(options.faults ?? [], () => world.touch());
  const doors: SideDoor[] = [];
  const http = createBotApiServer(world, updates, faults, doors);
  const url = () => `http://127.0.0.1:${http.port()}`;
  const server = {
    down: () => http.down(),
    up: () => http.listen(0),
    async restart() {
      await http.down();
      await http.listen(0);
    },
    jumpUpdateId: (next: number) => updates.jump(next),
    repeatUpdate: (updateId: number) => updates.repeat(updateId),
    otherPoller: () => updates.interrupt("poller"),
  };
  const ledger = createLedger(world, updates, faults, url);
  const people = createPeople(world, updates);
  doors.push(pageDoor(ledger));
  if (options.control ?? true) doors.push(createControlDoor({ ledger, people, faults, clock: world.clock, server }));
  await http.listen(options.port ?? 0);
  return {
    url: url(),
    port: http.port(),
    token: world.token,
    ledger,
    people,
    faults,
    clock: world.clock,
    server,
    close: () => http.close(),
  };
}

export { botMessages, buttonsOf, findBotMessage, requestsOf, toastsFor, visibleMessages } from "./view.ts";
export type * from "./types.ts";
