/**
 * The update queue and the rules of getUpdates: confirmation by offset, lifetimes, allowed types, one poller at a time.
 * Written from the official server (Client.cpp: do_get_updates, process_get_updates_query, fail_query_conflict; TQueue).
 */
import type { PendingUpdate, SimOptions } from "./types.ts";
import { ApiError } from "./api-error.ts";
import { LIMITS } from "./limits.ts";
import type { World } from "./world.ts";

type Update = Record<string, unknown> & { update_id: number };

interface Poll {
  resolve(updates: Update[]): void;
  fail(error: ApiError): void;
  limit: number;
  timer: NodeJS.Timeout;
}

const OTHER_POLLER =
  "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running";
const WEBHOOK_ACTIVE =
  "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";

/** Update types that a bot gets only when it asks for them. */
const ON_REQUEST = new Set(["chat_member", "message_reaction", "message_reaction_count"]);

export interface Updates {
  /** Queues an update; returns its id, or null when its type is not wanted. */
  push(type: string, body: unknown, date: number): number | null;
  get(offset: number, limit: number, timeoutSeconds: number, caller: AbortSignal): Promise<Update[]>;
  /** Remembers allowed_updates; undefined leaves the last setting. */
  allow(types: string[] | undefined): void;
  /** Ends a waiting poll with 409. Returns whether one was waiting. */
  interrupt(reason: "poller" | "webhook"): boolean;
  /** Fails with 409, three seconds late when it is the second within three seconds. */
  conflict(): Promise<never>;
  /** Forgets waiting polls; their connections are gone. */
  dropPolls(): void;
  jump(next: number): void;
  repeat(updateId: number): void;
  clear(): void;
  pending(): PendingUpdate[];
  expired(): PendingUpdate[];
  polling(): boolean;
  allowed(): string[] | null;
  webhookUrl: string;
}

export function createUpdates(world: World, options: SimOptions): Updates {
  const rules = { conflictDelayMs: 3000, sameOffsetHoldMs: 3000, sameOffsetLimitMs: 500, ...options.pollRules };
  const known = new Map<number, Update>();
  const expired: PendingUpdate[] = [];
  const again: Update[] = [];
  let queue: (PendingUpdate & { update: Update })[] = [];
  let tail = options.firstUpdateId ?? 500_000_001;
  let poll: Poll | undefined;
  let allowed: string[] | undefined;
  let lastOffset: number | undefined;
  let lastStart = Number.NEGATIVE_INFINITY;
  let nextConflictAt = Number.NEGATIVE_INFINITY;

  function purge(): void {
    const now = world.clock.now();
    for (const { updateId, type, expiresAt } of queue) {
      if (expiresAt <= now) expired.push({ updateId, type, expiresAt });
    }
    queue = queue.filter((entry) => entry.expiresAt > now);
  }

  function take(limit: number): Update[] {
    purge();
    return [...again.splice(0, limit), ...queue.map((entry) => entry.update)].slice(0, limit);
  }

  function endPoll(): Poll | undefined {
    const ended = poll;
    poll = undefined;
    if (ended) clearTimeout(ended.timer);
    return ended;
  }

  function wake(): void {
    if (!poll) return;
    const updates = take(poll.limit);
    if (updates.length > 0) endPoll()?.resolve(updates);
  }

  async function conflict(reason = OTHER_POLLER): Promise<never> {
    const now = performance.now();
    if (now >= nextConflictAt) nextConflictAt = now + rules.conflictDelayMs;
    else await new Promise((resolve) => setTimeout(resolve, rules.conflictDelayMs).unref());
    throw new ApiError(409, reason);
  }

  const self: Updates = {
    webhookUrl: "",
    push(type, body, date) {
      if (allowed ? !allowed.includes(type) : ON_REQUEST.has(type)) return null;
      const update = { update_id: tail, [type]: body };
      tail += 1;
      known.set(update.update_id, update);
      const life = type === "callback_query" ? LIMITS.callbackQueueMs : LIMITS.messageQueueMs;
      queue.push({ updateId: update.update_id, type, expiresAt: date + life, update });
      world.touch();
      // The poll answers after the action that made the update has returned, so a test can note the id first.
      setImmediate(wake);
      return update.update_id;
    },
    async get(offset, limit, timeoutSeconds, caller) {
      if (self.webhookUrl !== "") return conflict(WEBHOOK_ACTIVE);
      self.interrupt("poller");
      const now = performance.now();
      let holdMs = timeoutSeconds * 1000;
      let count = limit;
      if (offset === lastOffset) {
        if (holdMs < rules.sameOffsetHoldMs && now < lastStart + rules.sameOffsetHoldMs)
          holdMs = rules.sameOffsetHoldMs;
        if (now < lastStart + rules.sameOffsetLimitMs) count = 1;
      }
      lastOffset = offset;
      lastStart = now;
      // An offset from the future is ignored; a negative one keeps only the last updates.
      if (offset < 0) queue = queue.slice(offset);
      else if (offset > 0 && offset <= tail) queue = queue.filter((entry) => entry.updateId >= offset);
      world.touch();
      const updates = take(count);
      if (updates.length > 0 || holdMs === 0) return updates;
      return new Promise<Update[]>((resolve, reject) => {
        const waiting: Poll = {
          resolve,
          fail: reject,
          limit: count,
          timer: setTimeout(() => {
            if (poll === waiting) endPoll();
            resolve([]);
          }, holdMs),
        };
        poll = waiting;
        world.touch();
        caller.addEventListener("abort", () => {
          if (poll === waiting) endPoll();
          resolve([]);
          world.touch();
        });
      });
    },
    allow(types) {
      if (types) allowed = types.length === 0 ? undefined : types;
    },
    interrupt(reason) {
      const ended = endPoll();
      if (!ended) return false;
      const text = reason === "poller" ? OTHER_POLLER : "Conflict: terminated by setWebhook request";
      conflict(text).catch((error: ApiError) => ended.fail(error));
      return true;
    },
    conflict: () => conflict(),
    dropPolls() {
      endPoll()?.resolve([]);
      lastOffset = undefined;
    },
    jump(next) {
      purge();
      if (queue.length > 0)
        throw new Error("update ids jump only after a week without updates: the queue must be empty");
      tail = next;
      world.touch();
    },
    repeat(updateId) {
      const update = known.get(updateId);
      if (!update) throw new Error(`no update ${updateId}`);
      again.push(update);
      world.touch();
      setImmediate(wake);
    },
    clear() {
      queue = [];
      again.length = 0;
    },
    pending() {
      purge();
      return queue.map(({ updateId, type, expiresAt }) => ({ updateId, type, expiresAt }));
    },
    expired() {
      purge();
      return [...expired];
    },
    polling: () => poll !== undefined,
    allowed: () => allowed ?? null,
  };
  return self;
}
