/**
 * `settings.change`: a JSON Patch on one scope of a run that is not over. It affects attempts that begin later; a settings
 * route that is stored afterwards with the older number is made again.
 */
import { sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { SettingsActor, SettingsSnapshot } from "../../contracts/settings.ts";
import { isFinal } from "../../contracts/states.ts";
import { type ChangedSettings, changeSettings } from "../../workflow/rules/index.ts";
import { defineCommand } from "../command.ts";
import { type Receipt, type Receipted, withReceipt } from "../receipts.ts";
import { checkRevision } from "../runs/control.ts";
import { definitionOf, type RunRow, runByRef } from "../runs/rows.ts";
import type { Reader } from "../statements.ts";
import type { Tx } from "../tx.ts";
import { latestScope, rulesAt, type ScopeRow } from "./rows.ts";

export interface ChangeInput {
  readonly run: string;
  /** Full path of the mount; empty for the root. Its latest invocation is changed. */
  readonly mount: string;
  readonly patch: JsonValue;
  /** The version that the change was made for; null = whichever is the present one. */
  readonly expectedChangeNumber: number | null;
  /** Of the run. */
  readonly expectedRevision: number | null;
  /** The same request changes a scope once. */
  readonly requestId: string;
  readonly receipt: Receipt | null;
  /** Whom the server knows this to be; never what the request says. */
  readonly actor: { readonly type: SettingsActor; readonly id: string };
  /** What the workflow's own functions have accepted; null when they were not asked. */
  readonly judged: Judged | null;
}

/** The very change that was judged: from this version of this scope to a value with this hash. */
export interface Judged {
  readonly scopeId: string;
  readonly changeNumber: number;
  readonly hash: string;
}

export interface ChangeAck {
  readonly runId: string;
  readonly scopeId: string;
  readonly changeNumber: number;
  readonly hash: string;
}

/**
 * Throws `runNotFound`, `ambiguousId`, `revisionConflict`, `runState` for a run that is over, `settingsChanged` for another
 * version than expected or judged, `settingsRefused` for what the rules deny, `idempotencyConflict` for another change under a
 * known request.
 */
export const change = defineCommand("settings.change", (tx, input: ChangeInput): Receipted<ChangeAck> =>
  withReceipt(tx, input.receipt, () => {
    const run = runByRef(tx, input.run);
    const repeated = earlier(tx, run, input);
    if (repeated !== undefined) return repeated;
    checkRevision(tx, run, input.expectedRevision);
    if (isFinal("run", run.status))
      throw new HoldpointError(
        "runState",
        `Run ${run.runId} is ${run.status}; its settings cannot be changed any more.`,
      );
    return apply(tx, run, latestScope(tx, run, input.mount), input);
  }),
);

function digestOf({ expectedChangeNumber, mount, patch }: Omit<ChangeInput, "judged">): string {
  return sha256Digest({ expectedChangeNumber, mount, patch });
}

/** What the same request did before, in whichever invocation that was. */
export function earlier(tx: Reader, run: RunRow, input: Omit<ChangeInput, "judged">): ChangeAck | undefined {
  const row = tx.get<{ digest: string; scopeId: string; changeNumber: number; hash: string }>(
    `SELECT c.request_digest AS digest, c.scope_id AS scopeId, c.change_number AS changeNumber, c.hash FROM workflow_setting_changes c
     JOIN workflow_settings s USING (scope_id) WHERE s.run_no = ? AND c.request_id = ?`,
    run.runNo,
    input.requestId,
  );
  if (row === undefined) return undefined;
  const { changeNumber, digest, hash, scopeId } = row;
  if (digest !== digestOf(input))
    throw new HoldpointError(
      "idempotencyConflict",
      `Request "${input.requestId}" changed ${scopeId} before in another way.`,
    );
  return { runId: run.runId, scopeId, changeNumber, hash };
}

/** What the change makes of the scope by the rules. Throws as `change` does. */
export function outcomeOf(
  db: Reader & { unpack(text: string): JsonValue },
  run: RunRow,
  scope: ScopeRow,
  { actor, expectedChangeNumber, patch }: Pick<ChangeInput, "actor" | "expectedChangeNumber" | "patch">,
): { readonly settings: SettingsSnapshot; readonly changed: ChangedSettings } {
  const settings = rulesAt(definitionOf(db, run), scope.mount);
  if (settings === undefined) throw new HoldpointError("storageBroken", `Scope ${scope.scopeId} has no rules.`);
  const changed = changeSettings({
    settings,
    actor: actor.type,
    value: db.unpack(scope.current),
    changeNumber: scope.changeNumber,
    patch,
    ...(expectedChangeNumber === null ? {} : { expectedChangeNumber }),
  });
  return { settings, changed };
}

function checkJudged(scope: ScopeRow, hash: string, judged: Judged | null): void {
  const { changeNumber, scopeId } = scope;
  if (judged?.scopeId === scopeId && judged.changeNumber === changeNumber && judged.hash === hash) return;
  throw new HoldpointError(
    "settingsChanged",
    `The settings are at version ${changeNumber} of ${scopeId} by now; the workflow has judged a change of another one.`,
    { details: { seen: changeNumber } },
  );
}

function apply(tx: Tx, run: RunRow, scope: ScopeRow, input: ChangeInput): ChangeAck {
  const { actor, judged, requestId } = input;
  const { changed, settings } = outcomeOf(tx, run, scope, input);
  const { changeNumber, hash, operations, value } = changed;
  if (settings.judged === true) checkJudged(scope, hash, judged);
  const packed = tx.pack(value);
  tx.run(
    `INSERT INTO workflow_setting_changes (scope_id, change_number, request_id, request_digest, actor_type, actor_id, patch, value, hash, accepted_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    scope.scopeId,
    changeNumber,
    requestId,
    digestOf(input),
    actor.type,
    actor.id,
    tx.pack(operations),
    packed,
    hash,
    tx.now,
  );
  tx.run(
    "UPDATE workflow_settings SET current = ?, hash = ?, change_number = ? WHERE scope_id = ?",
    packed,
    hash,
    changeNumber,
    scope.scopeId,
  );
  tx.event(run.resourceNo, {
    type: "settings.changed",
    actor,
    payload: { scopeId: scope.scopeId, changeNumber, hash, paths: operations.map(({ path }) => path).slice(0, 32) },
  });
  return { runId: run.runId, scopeId: scope.scopeId, changeNumber, hash };
}
