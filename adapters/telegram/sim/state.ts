/** The whole state as one JSON value, and waiting until it shows something. */
import type { FaultBook } from "./faults.ts";
import type { Ledger, SimState } from "./types.ts";
import type { Updates } from "./updates.ts";
import type { World } from "./world.ts";

export function createLedger(world: World, updates: Updates, faults: FaultBook, url: () => string): Ledger {
  /** The live objects, not to be kept or changed. */
  function view(): SimState {
    return {
      version: world.version,
      now: world.clock.now(),
      url: url(),
      bot: world.bot,
      users: [...world.users.values()],
      chats: [...world.chats.values()].map(({ messages, sent: _sent, ...chat }) => ({
        ...chat,
        messages: [...messages.values()].map((stored) => stored.ledger),
      })),
      taps: world.taps,
      toasts: world.toasts,
      commands: world.commands,
      requests: world.requests,
      pendingUpdates: updates.pending(),
      expiredUpdates: updates.expired(),
      polling: updates.polling(),
      allowedUpdates: updates.allowed(),
      webhookUrl: updates.webhookUrl,
      faults: faults.list(),
      redirectHits: world.redirectHits,
    };
  }

  return {
    version: () => world.version,
    // Copies: nothing that a caller does to them comes back.
    state: () => structuredClone(view()),
    async waitFor(test, options = {}) {
      const signal = AbortSignal.timeout(options.timeoutMs ?? 30_000);
      for (;;) {
        const { version } = world;
        const found = test(view());
        if (found !== undefined && found !== null && found !== false) return structuredClone(found);
        if (signal.aborted) {
          throw new Error(`the stand-in did not show ${options.what ?? "the expected state"} in time`);
        }
        await world.changed(version, signal);
      }
    },
  };
}
