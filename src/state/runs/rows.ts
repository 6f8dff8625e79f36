/** Rows of runs as the other commands read them, and how a person's short form of a run is resolved. */
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { resolveId, shortRunId } from "../../contracts/ids.ts";
import { VALUE } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { isFinal } from "../../contracts/states.ts";
import type { Reader } from "../statements.ts";
import type { Actor, Claim, Tx } from "../tx.ts";

export interface RunRow {
  readonly runNo: number;
  readonly runId: string;
  readonly resourceNo: number;
  readonly workflowName: string;
  readonly definitionDigest: string | null;
  status: string;
  paused: number;
  /** Steps finished so far; also the number of the next step. */
  steps: number;
  /** The open or last attempt. */
  attemptNo: number | null;
  /** Number of the last continuation; 0 is the start. */
  continuations: number;
}

export interface AttemptRow {
  readonly attemptNo: number;
  readonly nodeId: string;
  /** Visit of the node in this run, from 1. */
  readonly visit: number;
  /** Attempt of this visit, from 1. */
  readonly attemptNumber: number;
  readonly status: string;
  /** The runner that executes or executed it; null for what was answered without one. */
  readonly runnerEpoch: string | null;
  readonly startedAt: number;
}

const RUN = `SELECT run_no AS runNo, run_id AS runId, resource_no AS resourceNo, workflow_name AS workflowName,
  definition_digest AS definitionDigest, status, paused, steps, attempt_no AS attemptNo, continuations FROM runs`;
const RUN_BY_NO = `${RUN} WHERE run_no = ?`;
const ATTEMPT = `SELECT attempt_no AS attemptNo, node_id AS nodeId, visit, attempt_number AS attemptNumber, status,
  runner_epoch AS runnerEpoch, started_at AS startedAt FROM node_attempts
  WHERE run_no = ? AND attempt_no = ?`;

/** The run of an internal number; a number that does not exist is a defect. */
export function runByNo(db: Reader, runNo: number): RunRow {
  const row = db.get<RunRow>(RUN_BY_NO, runNo);
  if (row === undefined) throw new HoldpointError("runNotFound", `Run number ${runNo} does not exist.`);
  return row;
}

/** The run that a person meant by short id, unique prefix or full id. Throws `runNotFound` or `ambiguousId`. */
export function runByRef(db: Reader, ref: string): RunRow {
  return runByNo(db, runNoOf(db, ref));
}

export function runNoOf(db: Reader, ref: string): number {
  const exact = db.get<{ no: number }>("SELECT run_no AS no FROM runs WHERE run_id = ?", ref);
  if (exact !== undefined) return exact.no;
  // A range instead of LIKE: the index serves it, and no character of the text has a meaning.
  const end = `${ref}\u{10FFFF}`;
  const fits =
    ref === ""
      ? []
      : db.all<{ no: number; id: string; short: string }>(
          `SELECT run_no AS no, run_id AS id, short_key AS short FROM runs
           WHERE (short_key >= ?1 AND short_key < ?2) OR (run_id >= ?1 AND run_id < ?2) ORDER BY run_no DESC LIMIT 20`,
          ref,
          end,
        );
  const id = resolveId(ref, fits, "run", "runNotFound");
  return fits.find((fit) => fit.id === id)?.no as number;
}

/** The short id of a run: four characters of its last part, more only while another run begins alike. */
export function shortIdOf(db: Reader, runId: string): string {
  for (let length = 4; length < 8; length += 1) {
    const short = shortRunId(runId, length);
    const row = db.get<{ n: number }>(
      "SELECT count(*) AS n FROM runs WHERE short_key >= ?1 AND short_key < ?2",
      short,
      `${short}\u{10FFFF}`,
    );
    if ((row?.n ?? 0) <= 1) return short;
  }
  return shortRunId(runId, 8);
}

/** Checks and renews a claim, and loads its run. Throws `claimLost`. */
export function claimedRun(tx: Tx, claim: Claim): RunRow {
  tx.check(claim);
  return runByNo(tx, claim.runNo);
}

/** The attempt that is running or waiting, if there is one. */
export function openAttempt(db: Reader, run: RunRow): AttemptRow | undefined {
  return openOf(lastAttempt(db, run));
}

/** The last attempt if it is open. */
export function openOf(last: AttemptRow | undefined): AttemptRow | undefined {
  return last?.status === "running" || last?.status === "waiting" ? last : undefined;
}

export function lastAttempt(db: Reader, run: RunRow): AttemptRow | undefined {
  return run.attemptNo === null ? undefined : db.get<AttemptRow>(ATTEMPT, run.runNo, run.attemptNo);
}

/**
 * Definitions by digest. They never change, so parsed ones are kept; routing compiles its edges per object.
 * The oldest goes when there are many.
 */
const definitions = new Map<string, DefinitionSnapshot>();
const KEPT_DEFINITIONS = 64;

export interface Definitions extends Reader {
  unpack(text: string): JsonValue;
}

/** The stored definition of a run that has been started. */
export function definitionOf(
  tx: Definitions,
  run: { readonly definitionDigest: string | null; readonly runId: string },
): DefinitionSnapshot {
  const digest = run.definitionDigest;
  if (digest === null)
    throw new HoldpointError(
      "protocolRejected",
      `Run ${run.runId} has no definition yet; its runner never became ready.`,
    );
  const known = definitions.get(digest);
  if (known !== undefined) return known;
  const row = tx.get<{ definition: string }>(
    "SELECT definition FROM workflow_definitions WHERE definition_digest = ?",
    digest,
  );
  if (row === undefined)
    throw new HoldpointError("storageBroken", `The definition ${digest} of run ${run.runId} is missing.`);
  const definition = tx.unpack(row.definition) as unknown as DefinitionSnapshot;
  if (definitions.size >= KEPT_DEFINITIONS) definitions.delete(definitions.keys().next().value as string);
  definitions.set(digest, definition);
  return definition;
}

/** What clients get back from a command on a run. */
export interface RunAck {
  readonly runId: string;
  readonly shortId: string;
  readonly status: string;
  readonly revision: number;
}

export function ackOf(tx: Tx, run: RunRow): RunAck {
  return {
    runId: run.runId,
    shortId: shortIdOf(tx, run.runId),
    // As people see it: a pause hides what the run would do without it.
    status: run.paused === 1 && !isFinal("run", run.status) ? "paused" : run.status,
    revision: tx.revision(run.resourceNo),
  };
}

export function runnerActor(claim: Claim): Actor {
  return { type: "runner", id: claim.runnerEpoch };
}

export const SERVER_ACTOR: Actor = { type: "server", id: "server" };

/** An error record as column text: its message cut to the limit of stored errors and made well formed. */
export function packError(tx: Tx, error: { readonly message: string } | null | undefined): string | null {
  if (error === null || error === undefined) return null;
  const { message } = error;
  const cut = message.length <= VALUE.errorChars ? message : `${message.slice(0, VALUE.errorChars - 1)}…`;
  return tx.pack({ ...error, message: (cut as unknown as { toWellFormed(): string }).toWellFormed() });
}
