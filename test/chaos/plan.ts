/**
 * What a chaos run plays: how much work, who is asked where, and turn by turn which faults and deaths come. All of it follows from the seed;
 * when each request arrives at the stand-in does not, because processes are as fast as they are.
 */
import type { FaultSpec } from "../../adapters/telegram/sim/index.ts";
import { randomOf, type Random } from "./random.ts";

export interface Amount {
  readonly runs: number;
  /** Decisions of each run, one after the other. */
  readonly questions: number;
  /** Alerts of each run before each of its decisions; the last of them ends after the decision. */
  readonly alerts: number;
  /** Turns after which the faults stop, however far the work is. */
  readonly turns: number;
}

/** 500 decisions and 2,000 alerts. */
export const WHOLE: Amount = { runs: 100, questions: 5, alerts: 4, turns: 260 };
/** What `npm test` plays. */
export const SHORT: Amount = { runs: 6, questions: 2, alerts: 4, turns: 14 };

export interface Member {
  readonly name: string;
  readonly user: number;
  /** Their own chat, then the group that gets the same. */
  readonly chats: readonly number[];
  /** Sent again after a minute of doubt, instead of waiting for evidence or a person. */
  readonly resends: boolean;
}

const MEMBERS = 12;
const GROUPS = 4;
export const STRANGER = 6_666;

/** Twelve people with a chat each; four of them share theirs with a group. Each is an audience. */
export const MEMBERS_OF_ALL: readonly Member[] = Array.from({ length: MEMBERS }, (_, at) => ({
  name: `team-${at + 1}`,
  user: 1_001 + at,
  chats: at < GROUPS ? [1_001 + at, -1_002_001 - at] : [1_001 + at],
  resends: at % 3 === 0,
}));

export type Kill = "server" | "adapter";

export interface Turn {
  /** Runs that begin in this turn. */
  readonly starts: number;
  readonly faults: readonly FaultSpec[];
  readonly kills: readonly Kill[];
  /** So much work is let happen before the deaths: looks at the world. */
  readonly killAfter: number;
  /** Connections that hang and answers that are held end now. */
  readonly release: boolean;
  /** Another program polls with the same token: a poll that is held ends with 409, and the next one meets it too. */
  readonly rival: boolean;
  readonly advanceMs: number;
}

const SENDS = ["sendMessage", "editMessageText", "editMessageReplyMarkup"];

/** The turns of a seed, without end; whoever plays stops. */
export function* turnsOf(seed: number, amount: Amount): Generator<Turn, never> {
  const random = randomOf(seed);
  // So that everything has begun when two thirds are over.
  const each = Math.ceil(amount.runs / Math.max(1, Math.floor((amount.turns * 2) / 3)));
  // Turns for which another program goes on polling; some fights are long enough to be told of, most are not.
  let rival = 0;
  for (let left = amount.runs; ;) {
    const starts = Math.min(left, random.between(0, each * 2));
    left -= starts;
    const faults = Array.from({ length: random.between(1, 4) }, () => faultOf(random));
    const kills: Kill[] = [];
    if (random.chance(0.16)) kills.push("server");
    if (random.chance(0.22)) kills.push("adapter");
    rival = rival > 0 ? rival - 1 : random.chance(0.1) ? random.between(1, 8) : 0;
    yield {
      starts,
      faults,
      kills,
      killAfter: random.between(0, 3),
      release: random.chance(0.3),
      rival: rival > 0,
      advanceMs: random.between(1, 12) * 1_000,
    };
  }
}

function faultOf(random: Random): FaultSpec {
  // A failed poll makes the adapter pause for real seconds; most faults are about what it sends.
  if (random.chance(0.06)) return { method: "getUpdates", ...pollFault(random) };
  if (random.chance(0.1)) return { method: "answerCallbackQuery", ...sendFault(random) };
  if (random.chance(0.05)) {
    const { chats } = random.pick(MEMBERS_OF_ALL);
    return {
      kind: "reject",
      status: 403,
      description: "Forbidden: bot was blocked by the user",
      chat: chats[0] as number,
    };
  }
  const where = random.chance(0.4) ? { chat: random.pick(random.pick(MEMBERS_OF_ALL).chats) } : {};
  return { method: SENDS, ...where, times: random.between(1, 3), skip: random.between(0, 3), ...sendFault(random) };
}

function pollFault(random: Random): FaultSpec {
  return random.pick<FaultSpec>([
    { kind: "drop", when: "before", how: "rst" },
    { kind: "serverError", status: 502, when: "before", body: "html" },
    { kind: "malformed", body: "html" },
    { kind: "malformed", body: "null" },
  ]);
}

function sendFault(random: Random): FaultSpec {
  const when = random.pick(["before", "after"] as const);
  return random.pick<() => FaultSpec>([
    () => ({ kind: "tooMany", retryAfter: random.between(1, 30) }),
    () => ({ kind: "tooMany", retryAfter: random.between(1, 5), html: true }),
    () => ({ kind: "drop", when, how: random.pick(["rst", "fin", "half"] as const) }),
    () => ({ kind: "drop", when, how: "rst" }),
    () => ({
      kind: "serverError",
      status: random.pick([500, 502, 503, 504]),
      when,
      body: random.pick(["json", "html"] as const),
    }),
    () => ({
      kind: "malformed",
      when,
      body: random.pick(["empty", "null", "okOnly", "html", "noOk", "extra"] as const),
    }),
    () => ({ kind: "slow", what: random.pick(["answer", "ledger"] as const), ms: random.between(50, 400) }),
    () => ({ kind: "hang", when }),
  ])();
}
