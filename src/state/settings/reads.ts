/** Reads of settings for views. */
import type { SettingsActor, SettingsVersion } from "../../contracts/settings.ts";
import { readableSettings } from "../../workflow/rules/index.ts";
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { ReadDb } from "../reading.ts";
import { runByNo } from "../runs/rows.ts";
import { allScopes, rulesAt, scopeById, versionOf } from "./rows.ts";

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

  /** The scopes of a run as an actor may see them. */
  byRun: (runNo: number, actor: SettingsActor): ScopeReadRow[] => {
    const scopes = allScopes(db, runNo);
    if (scopes.length === 0) return [];
    const definition = definitionOf(db, runNo);
    return scopes.flatMap((row) => {
      const rules = definition === undefined ? undefined : rulesAt(definition, row.mount);
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

function definitionOf(db: ReadDb, runNo: number): DefinitionSnapshot | undefined {
  const digest = runByNo(db, runNo).definitionDigest;
  const row =
    digest === null
      ? undefined
      : db.get<{ definition: string }>(
          "SELECT definition FROM workflow_definitions WHERE definition_digest = ?",
          digest,
        );
  return row === undefined ? undefined : (db.unpack(row.definition) as unknown as DefinitionSnapshot);
}
