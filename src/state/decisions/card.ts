/**
 * What a card shows: computed from the rows of the decision and its run whenever an attempt is given out, never stored, so that
 * a late copy shows the present state.
 */
import {
  cardOf,
  type CardNotes,
  type CardState,
  type CardStatus,
  type CardStory,
} from "../../contracts/decision/card.ts";
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import type { DecisionRequest } from "../../contracts/decision/request.ts";
import { CONTENT, DECISION } from "../../contracts/limits.ts";
import type { MessageContent } from "../../contracts/protocol/channel.ts";
import { cardStatusOf } from "../../decision/index.ts";
import { shortIdOf } from "../runs/rows.ts";
import { isObstructed } from "../runs/obstructed.ts";
import { largeContent } from "../values.ts";
import { offerNotes, type Copy } from "./offers.ts";
import { requestOf, resolutionOf, type DecisionRow, type StoredResolution, type ValueReader } from "./rows.ts";
import { votesView } from "./votes.ts";

interface RunFacts {
  runId: string;
  status: string;
  finishedAt: number | null;
  finalOutput: string | null;
  error: string | null;
  parkReason: string | null;
  parkedAt: number | null;
  parkError: string | null;
  latest: string | null;
}

/** The content of a card for one attempt. `tokens` only for a copy that can be answered; `repeatOf` as the attempt says. */
export function cardContent(
  db: ValueReader,
  decision: DecisionRow,
  copy: {
    readonly tokens?: Record<string, string> | undefined;
    readonly repeatOf: number | null;
    readonly timeZone?: string | undefined;
    /** The delivery that this copy belongs to. */
    readonly of?: Copy | undefined;
  },
): MessageContent {
  const request = requestOf(db, decision);
  const run = runFacts(db, decision.runNo);
  const card = cardOf(request, {
    runShortId: shortIdOf(db, run.runId),
    timeZone: copy.timeZone ?? decision.timeZone,
    audience: [...new Set([...namesIn(decision.asked), ...namesIn(decision.escalatedAsked)])],
  });
  const state = stateOf(db, decision, request, run, {
    ...(copy.repeatOf === null ? {} : { possibleRepeatOf: copy.repeatOf }),
    ...(copy.of === undefined ? {} : offerNotes(db, decision.decisionNo, copy.of)),
  });
  return copy.tokens === undefined ? { kind: "card", card, state } : { kind: "card", card, state, tokens: copy.tokens };
}

/** How the card stands: pending, or as the one resolution says. */
export function statusOf(request: DecisionRequest, stored: StoredResolution | undefined): CardStatus {
  if (stored === undefined) return { kind: "pending" };
  const { personName, reason, resolution } = stored;
  const status = cardStatusOf(request, resolution, (id) => (id === resolution.personId ? personName : undefined));
  return status.kind === "cancelled" && reason !== undefined ? { ...status, reason } : status;
}

function stateOf(
  db: ValueReader,
  decision: DecisionRow,
  request: DecisionRequest,
  run: RunFacts,
  ofCopy: CardNotes,
): CardState {
  const status = statusOf(request, resolutionOf(db, decision));
  const notes: CardNotes = {
    ...ofCopy,
    // Who has answered is told by the story.
    ...(status.kind === "pending" && isObstructed(db, decision.runNo) ? { sourceChanged: true } : {}),
    ...escalationOf(decision),
  };
  const votes = votesView(db, decision, request);
  const story = decision.status === "accepted" && run.latest === decision.decisionId ? storyOf(db, run) : undefined;
  return {
    status,
    ...(Object.keys(notes).length === 0 ? {} : { notes }),
    ...(votes === undefined ? {} : { votes }),
    ...(story === undefined ? {} : { story }),
  };
}

/** That a second audience is asked too. */
function escalationOf({ escalatedAsked, escalatedAt, escalatedTo, escalationCause }: DecisionRow): CardNotes {
  if (escalatedAt === null || escalatedTo === null || escalationCause === null) return {};
  const names = namesIn(escalatedAsked);
  return { escalated: { audience: escalatedTo, names, cause: escalationCause, at: escalatedAt } };
}

/** Names as a row of the decision keeps them. */
export function namesIn(list: string | null): string[] {
  return list === null ? [] : (JSON.parse(list) as string[]);
}

function runFacts(db: ValueReader, runNo: number): RunFacts {
  const row = db.get<RunFacts>(
    `SELECT r.run_id AS runId, r.status, r.finished_at AS finishedAt, r.final_output AS finalOutput, r.error, q.park_reason AS parkReason,
       q.updated_at AS parkedAt, q.error AS parkError,
       (SELECT decision_id FROM human_decisions WHERE run_no = r.run_no ORDER BY attempt_no DESC LIMIT 1) AS latest
     FROM runs r LEFT JOIN run_queue q ON q.run_no = r.run_no WHERE r.run_no = ?`,
    runNo,
  );
  if (row === undefined) throw new Error(`run ${runNo} does not exist`);
  return row;
}

const OUTCOMES = ["completed", "failed", "timed_out", "cancelled"] as const;

function storyOf(db: ValueReader, run: RunFacts): CardStory | undefined {
  const outcome = OUTCOMES.find((status) => status === run.status);
  if (outcome === undefined || run.finishedAt === null) return waitOf(db, run);
  const detail =
    run.error !== null
      ? messageOf(db.unpack(run.error))
      : run.finalOutput !== null && largeContent(db, run.finalOutput, CONTENT.viewBytes) === null
        ? summaryOf(db.unpack(run.finalOutput))
        : undefined;
  return detail === undefined
    ? { outcome, at: run.finishedAt }
    : { outcome, at: run.finishedAt, detail: cutToUnits(detail, DECISION.storyUnits) };
}

/** A run that cannot go on before an operator has done something: since when, and why. */
function waitOf(db: ValueReader, run: RunFacts): CardStory | undefined {
  if (run.parkReason === null || ["decision", "interaction", "paused"].includes(run.parkReason)) return undefined;
  if (run.parkedAt === null) return undefined;
  const detail = run.parkError === null ? undefined : messageOf(db.unpack(run.parkError));
  const story = { outcome: "parked", at: run.parkedAt } as const;
  return detail === undefined ? story : { ...story, detail: cutToUnits(detail, DECISION.storyUnits) };
}

function messageOf(error: unknown): string | undefined {
  return typeof error === "object" && error !== null && "message" in error ? String(error.message) : undefined;
}

/** A text that the workflow ended with, or the `summary` of what it ended with. */
function summaryOf(output: unknown): string | undefined {
  if (typeof output === "string") return output.trim() === "" ? undefined : output;
  if (typeof output !== "object" || output === null || !Object.hasOwn(output, "summary")) return undefined;
  return summaryOf((output as { summary: unknown }).summary);
}
