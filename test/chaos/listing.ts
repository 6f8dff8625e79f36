/**
 * What the service tells of what is open, and how somebody who can look into the chats settles a doubt: with the operation that the service
 * names, and with the truth.
 */
import { visibleMessages, type LedgerMessage, type SimState } from "../../adapters/telegram/sim/index.ts";
import type { OperationPayload } from "../../src/client/index.ts";
import type { OperationName, OperationResult } from "../../src/contracts/protocol/operations.ts";
import { liveButtons } from "../harness/index.ts";
import { readFacts, type MessageFact } from "./facts.ts";
import type { Listing } from "./invariants.ts";
import { nameIn } from "./people.ts";

type Call = <K extends OperationName>(operation: K, payload: OperationPayload<K>) => Promise<OperationResult<K>>;

export async function listingOf(ledger: SimState, call: Call): Promise<Listing> {
  const [{ effects }, { decisions }, { runs }] = await Promise.all([
    call("effect.list", { all: false }),
    call("decision.list", { all: false }),
    call("run.list", { limit: 256, before: null }),
  ]);
  const named = new Map(decisions.map(({ fingerprint, title }) => [fingerprint, nameIn(title) ?? title]));
  return {
    effects: effects.map(({ decisionFingerprint, error, settleWith, shortId, status, type }) => ({
      shortId,
      type,
      status,
      name: named.get(decisionFingerprint ?? "") ?? null,
      error: error?.message ?? null,
      settleWith,
    })),
    pending: decisions.map(({ title }) => ({
      name: nameIn(title) ?? title,
      pressable: pressable(ledger, nameIn(title)),
    })),
    runs: await Promise.all(
      runs
        .filter(({ finishedAt }) => finishedAt === null)
        .map(async ({ runId, status, title }) => ({
          title: title ?? runId,
          status,
          nextStep: (await call("run.get", { run: runId })).nextStep,
        })),
    ),
  };
}

function pressable(ledger: SimState, name: string | undefined): number {
  return ledger.chats.flatMap(({ id }) =>
    visibleMessages(ledger, id).filter((message) => nameIn(message.text) === name && liveButtons(message).length > 0),
  ).length;
}

/** Whether what a chat shows may be this message: by the name in it; a question for text and the answer to a command name nothing. */
export function looksLike({ about, type }: MessageFact, shown: LedgerMessage): boolean {
  const name = nameIn((shown.versions[0] ?? shown).text);
  if (type === "reply.promptText" || shown.forceReply !== undefined)
    return type === "reply.promptText" && shown.forceReply !== undefined;
  if (name === undefined && type.startsWith("reply.")) return true;
  return about.some((title) => nameIn(title) === name);
}

/** Every message in doubt is confirmed with its place when it is there, and sent again when it is not. */
export async function settleDoubts(database: string, ledger: SimState, call: Call): Promise<number> {
  const { effects } = await call("effect.list", { all: false });
  const doubtful = effects.filter(({ settleWith, status }) => status === "ambiguous" && settleWith !== null);
  if (doubtful.length === 0) return 0;
  const facts = readFacts(database);
  const known = new Set(facts.parts.map(({ reference }) => reference));
  for (const { effectId, shortId } of doubtful) {
    const message = facts.messages.find((row) => row.shortId === shortId);
    if (message === undefined) continue;
    const isIt = (shown: LedgerMessage): boolean =>
      shown.from === "bot" && !known.has(`${shown.chatId}:${shown.id}`) && looksLike(message, shown);
    const found = visibleMessages(ledger, Number(message.place)).find(isIt);
    if (found !== undefined) known.add(`${found.chatId}:${found.id}`);
    const over = facts.decisions.some(({ status, title }) => status !== "pending" && message.about.includes(title));
    await call("channel.recover", {
      effect: effectId,
      action: found === undefined && !over ? "retry" : "confirm",
      part: null,
      reference: found === undefined ? null : String(found.id),
    });
  }
  return doubtful.length;
}
