/** Reads of settings for views. */
import type { SourceFile } from "../../contracts/definition.ts";
import { isHoldpointError } from "../../contracts/errors.ts";
import type { ProposedSettings, SettingsActor, SettingsVersion } from "../../contracts/settings.ts";
import { isFinal } from "../../contracts/states.ts";
import { readableSettings } from "../../workflow/rules/index.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ReadDb } from "../reading.ts";
import { placeOf, sourcesOf } from "../runs/claim.ts";
import { definitionOf, runByNo, runByRef } from "../runs/rows.ts";
import { type ChangeInput, earlier, type Judged, outcomeOf } from "./change.ts";
import { allScopes, latestScope, rulesAt, scopeById, versionOf } from "./rows.ts";

/** A change that the workflow's own functions must judge, with what their process needs. */
export interface Proposal {
  readonly runId: string;
  readonly projectPath: string;
  readonly workflowPath: string;
  readonly definitionDigest: string;
  readonly sources: SourceFile[];
  readonly change: ProposedSettings;
  readonly judged: Judged;
}

export interface ScopeReadRow extends Omit<SettingsVersion, "value"> {
  readonly mount: string;
  readonly invocation: number;
  readonly description: string | null;
  /** What this actor may read of it; null when it is nothing. */
  readonly value: JsonValue | null;
  /** Paths that this actor may change somehow. */
  readonly changeable: readonly string[];
}

// oxlint-disable-next-line explicit-function-return-type -- the object is the type
export const reads = (db: ReadDb) => ({
  /** A scope as it stands, or null. */
  version: (scopeId: string): SettingsVersion | null => {
    const row = scopeById(db, scopeId);
    return row === undefined ? null : versionOf(db, row);
  },

  /**
   * What of a change the workflow must judge first. Null when there is nothing to judge: no function does, the request is known,
   * or the command will refuse it by itself.
   */
  proposal: (input: Omit<ChangeInput, "judged">): Proposal | null => {
    try {
      const run = runByRef(db, input.run);
      if (run.definitionDigest === null || isFinal("run", run.status) || earlier(db, run, input) !== undefined)
        return null;
      const scope = latestScope(db, run, input.mount);
      const { changed, settings } = outcomeOf(db, run, scope, input);
      if (settings.judged !== true) return null;
      const { scopeId, changeNumber } = scope;
      const { runNo, runId, definitionDigest } = run;
      const change = {
        mount: scope.mount,
        before: db.unpack(scope.current),
        after: changed.value,
        actor: input.actor.type,
      };
      const judged = { scopeId, changeNumber, hash: changed.hash };
      return { runId, ...placeOf(db, runNo), definitionDigest, sources: sourcesOf(db, runNo), change, judged };
    } catch (error) {
      if (isHoldpointError(error)) return null;
      throw error;
    }
  },

  /** The scopes of a run as an actor may see them. */
  byRun: (runNo: number, actor: SettingsActor): ScopeReadRow[] => {
    const scopes = allScopes(db, runNo);
    if (scopes.length === 0) return [];
    const definition = definitionOf(db, runByNo(db, runNo));
    return scopes.flatMap((row) => {
      const rules = rulesAt(definition, row.mount);
      if (rules === undefined) return [];
      const { changeNumber, hash, scopeId, value } = versionOf(db, row);
      return {
        scopeId,
        mount: row.mount,
        invocation: row.invocation,
        changeNumber,
        hash,
        description: rules.description ?? null,
        value: readableSettings(rules, actor, value) ?? null,
        changeable: rules.rules
          .filter(({ add, remove, replace }) => [add, remove, replace].some((actors) => actors.includes(actor)))
          .map(({ pointer }) => pointer),
      };
    });
  },
});
