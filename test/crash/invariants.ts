/**
 * What must hold after every fault, once the work has gone on to its end. Pure: from the rows of the database, what the chats
 * show, what people did and what actions did. Every rule returns sentences; none means that it holds.
 */
import type { LedgerMessage, SimState } from "../../adapters/telegram/sim/index.ts";
import { visibleMessages } from "../../adapters/telegram/sim/index.ts";
import { liveButtons } from "../harness/index.ts";
import type { Facts, PartFact } from "./facts.ts";
import type { Act } from "./person.ts";

/** One execution of an action, as its file tells. */
export interface Execution {
  readonly node: string;
  readonly effectId: string;
  readonly attempt: number;
}

/** How the story of one run ends when nothing fails, which is how it must end when something does. */
export interface Ending {
  readonly status: string;
  /** Of each decision in order: choice (or outcome, without one) and provenance, for example `approve human`. */
  readonly decisions: readonly string[];
  /** Action nodes that took effect, in order. */
  readonly actions: readonly string[];
  /** The text that went with a choice, by decision. */
  readonly texts?: readonly (string | null)[];
}

export interface Evidence {
  readonly facts: Facts;
  readonly ledger: SimState;
  readonly acts: readonly Act[];
  /** By run id, in the order of their lines. */
  readonly executions: ReadonlyMap<string, readonly Execution[]>;
  /** By run id. */
  readonly endings: ReadonlyMap<string, Ending>;
  /** Findings of the store's own verification of chains and blobs. */
  readonly verified: readonly string[];
  /** False where old inbox rows were deleted on purpose. */
  readonly inboxKept: boolean;
  /** Command lines that the operator ran, in order. */
  readonly commands: readonly string[];
  /** Runs are parked on the way for a cause that only a person can put right. */
  readonly needsResume: boolean;
  /** Runners that were killed at points. */
  readonly runnerDeaths: number;
}

export interface Violation {
  readonly rule: string;
  readonly detail: string;
}

type Rule = (evidence: Evidence) => Iterable<string>;

/** Resolved decisions have one resolution each, and pending ones none. */
function* oneResolution({ facts }: Evidence): Iterable<string> {
  for (const { decisionId, status } of facts.decisions) {
    const found = facts.resolutions.filter((resolution) => resolution.decisionId === decisionId);
    const wanted = status === "pending" ? 0 : 1;
    if (found.length !== wanted) yield `decision ${decisionId} is ${status} with ${found.length} resolutions`;
    for (const { outcome } of found)
      if (outcome !== status) yield `decision ${decisionId} is ${status}, its resolution ${outcome}`;
  }
  const known = new Set(facts.decisions.map(({ decisionId }) => decisionId));
  for (const { decisionId } of facts.resolutions)
    if (!known.has(decisionId)) yield `resolution of unknown ${decisionId}`;
}

/** Every accepted decision, every answered checkpoint and every time that came has one continuation, nothing else but the start has one, and each was executed as one step. */
function* oneContinuation({ facts }: Evidence): Iterable<string> {
  for (const { decisionId, status } of facts.decisions) {
    const found = facts.continuations.filter(
      ({ cause, causeId }) => cause === "decision" && causeId === decisionId,
    ).length;
    const wanted = status === "accepted" ? 1 : 0;
    if (found !== wanted) yield `decision ${decisionId} is ${status} with ${found} continuations`;
  }
  const others = [
    ...facts.checkpoints.map(({ requestId, status }) => ({ kind: "checkpoint", id: requestId, status })),
    ...facts.timers.map(({ status, timerId }) => ({ kind: "timer", id: timerId, status })),
  ];
  for (const { id, kind, status } of others) {
    const found = facts.continuations.filter(({ cause, causeId }) => cause === kind && causeId === id).length;
    const wanted = status === "settled" || status === "fired" ? 1 : 0;
    if (found !== wanted) yield `${kind} ${id} is ${status} with ${found} continuations`;
  }
  for (const { runId, runNo } of facts.runs) {
    const starts = facts.continuations.filter(({ cause, ...row }) => row.runNo === runNo && cause === "start").length;
    if (starts !== 1) yield `run ${runId} has ${starts} starts`;
    const known = new Set(facts.decisions.map(({ decisionId }) => decisionId));
    for (const { cause, causeId, ...row } of facts.continuations) {
      if (row.runNo === runNo && cause === "decision" && !known.has(causeId))
        yield `continuation of ${runId} for unknown ${causeId}`;
    }
  }
}

/** Steps are numbered without gap or repetition. */
function* stepsInOrder({ facts }: Evidence): Iterable<string> {
  for (const { runId, runNo, steps } of facts.runs) {
    const numbers = facts.attempts
      .filter((attempt) => attempt.runNo === runNo && attempt.step !== null)
      .map(({ step }) => step);
    const wanted = Array.from({ length: steps }, (_, index) => index);
    if (JSON.stringify(numbers) !== JSON.stringify(wanted))
      yield `run ${runId} has ${steps} steps, stored as ${numbers.join(",")}`;
  }
}

/** Every stored copy of a card (or question for text) of a resolved decision is brought to its end. */
function* referencesSettled({ facts }: Evidence): Iterable<string> {
  for (const { copy, decisionId, reference } of copies(facts)) {
    if (facts.decisions.find((decision) => decision.decisionId === decisionId)?.status === "pending") continue;
    const settlements = facts.effects.filter(
      (effect) => effect.purpose === "settlement" && effect.decisionId === decisionId && effect.reference === reference,
    );
    if (settlements.length === 0) yield `${copy} at ${reference} has no settlement`;
    else if (!settlements.some(({ status }) => status === "applied")) {
      yield `${copy} at ${reference} was never settled: ${settlements.map(({ status }) => status).join(", ")}`;
    }
  }
}

function copies(facts: Facts): { copy: string; decisionId: string; reference: string; part: PartFact }[] {
  return facts.parts.flatMap((part) => {
    const effect = facts.effects.find(({ effectId }) => effectId === part.effectId);
    if (part.reference === null || effect === undefined || effect.decisionId === null) return [];
    if (effect.purpose !== "delivery" && effect.prompt === 0) return [];
    return [
      { copy: `${effect.purpose} ${effect.shortId}`, decisionId: effect.decisionId, reference: part.reference, part },
    ];
  });
}

/** In the chats nothing of a resolved decision can be pressed, and no question for text is open. */
function* nothingToPress({ facts, ledger }: Evidence): Iterable<string> {
  for (const { chat, message } of botMessages(ledger)) {
    const decision = facts.decisions.find(({ fingerprint }) => message.text.includes(fingerprint));
    if (liveButtons(message).length > 0 && decision?.status !== "pending") {
      yield `message ${chat}:${message.id} can still be pressed, but ${decision === undefined ? "no decision is known for it" : `${decision.fingerprint} is ${decision.status}`}`;
    }
    if (message.forceReply !== undefined && facts.decisions.every(({ status }) => status !== "pending")) {
      yield `message ${chat}:${message.id} still asks for text, but nothing waits`;
    }
  }
}

/** A second copy of a card is visible only where an attempt says that it may be one, and the copy says so too. */
function* noSilentSecondCard({ facts, ledger }: Evidence): Iterable<string> {
  for (const { decisionId, fingerprint } of facts.decisions) {
    for (const place of new Set(
      facts.effects.flatMap((effect) => (effect.decisionId === decisionId ? (effect.place ?? []) : [])),
    )) {
      const shown = new Map<string, LedgerMessage[]>();
      for (const { chat, message } of botMessages(ledger)) {
        const first = message.versions[0] ?? message;
        if (String(chat) !== place || !first.text.includes(fingerprint)) continue;
        const part = /part \d+\/\d+/.exec(first.text)?.[0] ?? "card";
        shown.set(part, [...(shown.get(part) ?? []), message]);
      }
      const allowed = facts.effectAttempts.filter(
        ({ effectId, repeatOf }) =>
          repeatOf !== null &&
          facts.effects.some(
            (effect) => effect.effectId === effectId && effect.decisionId === decisionId && effect.place === place,
          ),
      ).length;
      const offered = facts.effects.filter(
        (effect) => effect.type === "card.offer" && effect.decisionId === decisionId && effect.place === place,
      ).length;
      for (const [part, messages] of shown) {
        if (messages.length - 1 > allowed + offered)
          yield `${messages.length} copies of ${fingerprint} (${part}) in ${place}, but only ${allowed + offered} attempts say so`;
        const silent = messages.filter(
          (message) => !/Possible repeat|I was offline/.test((message.versions[0] ?? message).text),
        );
        // Which of them arrives first is the network's business; the note stands in the last part.
        if ((part === "card" || /part (\d+)\/\1$/.test(part)) && silent.length > 1) {
          yield `${silent.length} copies of ${fingerprint} (${part}) in ${place} do not say that there may be another`;
        }
      }
    }
  }
}

/** Whatever somebody did in the chat has a verdict. */
function* noLostAct({ acts, facts, inboxKept }: Evidence): Iterable<string> {
  if (!inboxKept) return;
  for (const { kind, updateId, user } of acts) {
    const verdicts = facts.inbox.filter((id) => id === updateId).length;
    if (verdicts !== 1) yield `${kind} of ${user} (update ${updateId}) has ${verdicts} verdicts`;
  }
}

/**
 * Whatever somebody did in the chat was handled once, also when its update was handed over twice: there is one submission at most for
 * each answer that somebody sent, and one reply at most to each message or tap; reminders and the like answer nobody.
 */
function* handledOnce({ acts, facts, ledger }: Evidence): Iterable<string> {
  const submitted = facts.submissions.filter(({ source }) => source === "channel");
  const senders = new Set([...submitted.map(({ actorId }) => actorId), ...acts.map(({ user }) => String(user))]);
  for (const sender of senders) {
    const answers = acts.filter(({ answers, user }) => answers && String(user) === sender).length;
    const own = submitted.filter(({ actorId }) => actorId === sender).length;
    if (own > answers) yield `${sender} answered ${answers} times, and ${own} submissions are recorded`;
  }
  // Questions about doubts and reminders answer nobody; a tap that had to wait gets its verdict as a message.
  const replies = facts.effects.filter(
    ({ purpose, type }) =>
      purpose === "reply" &&
      type !== "reply.didArrive" &&
      type !== "reply.offlineDigest" &&
      !type.startsWith("notice."),
  ).length;
  const late = ledger.taps.filter(({ answer }) => answer?.text.startsWith("Received") === true).length;
  const replied = late + acts.filter(({ answers, kind }) => kind === "text" || !answers).length;
  if (replies > replied) yield `${replied} acts want a reply, and ${replies} replies were made`;
}

/** So many runners have to die before a run is parked because none of them achieved anything. */
const DEATHS_THAT_PARK = 3;

/** A run goes on by itself after every crash: nobody has to resume one that was not parked for a cause of its own. */
function* goesOnByItself({ commands, facts, needsResume, runnerDeaths }: Evidence): Iterable<string> {
  if (needsResume) return;
  const parks = facts.events.filter(({ payload, type }) => type === "run.parked" && !/"effectAmbiguous"/.test(payload));
  const hopeless = parks.filter(({ payload }) => payload.includes('"runnerNoProgress"')).length;
  const excused = hopeless * DEATHS_THAT_PARK <= runnerDeaths ? hopeless : 0;
  if (excused === 0)
    for (const line of commands) if (line.startsWith("resume ")) yield `the operator had to type "holdpoint ${line}"`;
  for (const { runNo, payload } of parks) {
    if (excused > 0 && payload.includes('"runnerNoProgress"')) continue;
    const runId = facts.runs.find((run) => run.runNo === runNo)?.runId;
    yield `run ${runId} was parked: ${payload}`;
  }
}

/** An action ran once, or each further time belongs to an attempt whose predecessor is known to be in doubt or undone. */
function* noSilentSecondAction({ executions, facts }: Evidence): Iterable<string> {
  for (const [runId, lines] of executions) {
    for (const effectId of new Set(lines.map((line) => line.effectId))) {
      const effect = facts.effects.find((row) => row.effectId === effectId);
      const own = lines.filter((line) => line.effectId === effectId);
      if (effect === undefined) yield `run ${runId} executed ${own[0]?.node} without an effect`;
      if (own.length > 1 && effect?.recovery !== "idempotent")
        yield `${effect?.recovery} action ${own[0]?.node} of ${runId} ran ${own.length} times`;
      for (const [index, { attempt, node }] of own.entries()) {
        const attempts = facts.effectAttempts.filter((row) => row.effectId === effectId);
        if (!attempts.some((row) => row.attempt === attempt))
          yield `${node} of ${runId} ran as attempt ${attempt}, which was never recorded`;
        if (own.findIndex((line) => line.attempt === attempt) !== index)
          yield `${node} of ${runId} ran twice as attempt ${attempt}`;
      }
      if (
        own.length > 1 &&
        facts.effectAttempts.filter((row) => row.effectId === effectId && row.state === "ambiguous").length <
          own.length - 1
      ) {
        yield `${own[0]?.node} of ${runId} ran ${own.length} times, and no attempt says that it was in doubt`;
      }
    }
  }
}

/** Nothing waits for ever: the scenario and the named commands have brought everything to its end. */
function* nothingStuck({ facts }: Evidence): Iterable<string> {
  const final = new Set(["completed", "failed", "timed_out", "cancelled"]);
  for (const { leaseOwner, queue, runId, status } of facts.runs) {
    if (!final.has(status)) yield `run ${runId} is ${status}`;
    if (queue !== "done") yield `run ${runId} is ${status}, but its queue row is ${queue}`;
    if (leaseOwner !== null) yield `run ${runId} is ${status}, but ${leaseOwner} holds its claim`;
  }
  for (const { nodeId, status } of facts.attempts)
    if (status === "running" || status === "waiting") yield `an attempt of ${nodeId} is ${status}`;
  for (const { purpose, shortId, status } of facts.effects) {
    if (status === "pending" || status === "applying" || status === "ambiguous")
      yield `${purpose} ${shortId} is ${status}`;
  }
  for (const { attempt, effectId, state } of facts.effectAttempts) {
    if (state === "recorded" || state === "dispatching") yield `attempt ${attempt} of ${effectId} is ${state}`;
  }
  for (const what of facts.alive) yield `${what} is not known to have ended`;
}

/** The story ends as it would have without the fault, and it ends once. */
function* sameEnding({ endings, executions, facts }: Evidence): Iterable<string> {
  if (facts.runs.length !== endings.size) yield `there are ${facts.runs.length} runs, ${endings.size} were started`;
  for (const { runId, runNo, status } of facts.runs) {
    const ending = endings.get(runId);
    if (ending === undefined) continue;
    const own = facts.decisions.filter((decision) => decision.runNo === runNo);
    const resolutions = own.map(({ decisionId }) => facts.resolutions.find((row) => row.decisionId === decisionId));
    const seen: Required<Ending> = {
      status,
      decisions: resolutions.map((row) =>
        row === undefined ? "none" : `${row.choice ?? row.outcome} ${row.provenance}`,
      ),
      actions: (executions.get(runId) ?? [])
        .map(({ node }) => node)
        .filter((node, index, all) => all.indexOf(node) === index),
      texts: resolutions.map((row) => row?.input ?? null),
    };
    const wanted: Required<Ending> = { ...ending, texts: ending.texts ?? own.map(() => null) };
    if (
      JSON.stringify(seen) !==
      JSON.stringify({
        status: wanted.status,
        decisions: wanted.decisions,
        actions: wanted.actions,
        texts: wanted.texts,
      })
    ) {
      yield `run ${runId} ended as ${JSON.stringify(seen)}, not as ${JSON.stringify(wanted)}`;
    }
    const ends = facts.events.filter((event) => event.runNo === runNo && event.type === "run.finished").length;
    if (ends !== 1) yield `run ${runId} was finished ${ends} times`;
    const applied = facts.effects.filter(
      // The command `list` writes no line of its own.
      (effect) =>
        effect.purpose === "action" && effect.runNo === runNo && effect.status === "applied" && effect.type !== "list",
    ).length;
    if (applied !== ending.actions.length)
      yield `run ${runId} has ${applied} applied actions, not ${ending.actions.length}`;
  }
}

function* chainIntact({ verified }: Evidence): Iterable<string> {
  yield* verified;
}

function botMessages(ledger: SimState): { chat: number; message: LedgerMessage }[] {
  return ledger.chats.flatMap(({ id }) =>
    visibleMessages(ledger, id).flatMap((message) => (message.from === "bot" ? [{ chat: id, message }] : [])),
  );
}

export const RULES: Readonly<Record<string, Rule>> = {
  oneResolution,
  oneContinuation,
  stepsInOrder,
  referencesSettled,
  nothingToPress,
  noSilentSecondCard,
  noLostAct,
  handledOnce,
  goesOnByItself,
  noSilentSecondAction,
  nothingStuck,
  sameEnding,
  chainIntact,
};

/** Applies every rule. */
export function violationsOf(evidence: Evidence): Violation[] {
  return Object.entries(RULES).flatMap(([rule, check]) => [...check(evidence)].map((detail) => ({ rule, detail })));
}
