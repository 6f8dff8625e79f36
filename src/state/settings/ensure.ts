/** `settings.ensure`: a scope of settings comes into being with its initial value, or is found again as it stands. */
import { canonicalJson, sha256Digest } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { SETTINGS } from "../../contracts/limits.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { settingsScopeId, type SettingsVersion } from "../../contracts/settings.ts";
import { defineCommand } from "../command.ts";
import { claimedRun, definitionOf, runnerActor } from "../runs/rows.ts";
import type { Claim } from "../tx.ts";
import { rulesAt, scopeById, type ScopeRow, versionOf } from "./rows.ts";

export interface EnsureInput {
  readonly claim: Claim;
  /** Full path of the mount; empty for the root. */
  readonly mount: string;
  readonly invocation: number;
  readonly initial: JsonValue;
}

/** Throws `claimLost`, `protocolRejected` for a place without settings, `settingsRefused` for too large a value. */
export const ensure = defineCommand("settings.ensure", (tx, input: EnsureInput): SettingsVersion => {
  const { claim, initial, invocation, mount } = input;
  const run = claimedRun(tx, claim);
  const scopeId = settingsScopeId(run.runId, mount, invocation);
  const found = scopeById(tx, scopeId);
  if (found !== undefined) return versionOf(tx, found);
  if (rulesAt(definitionOf(tx, run), mount) === undefined) {
    throw new HoldpointError("protocolRejected", `The workflow of run ${run.runId} has no settings at "${mount}".`);
  }
  const bytes = Buffer.byteLength(canonicalJson(initial));
  if (bytes > SETTINGS.valueBytes) {
    throw new HoldpointError(
      "settingsRefused",
      `The initial settings have ${bytes} bytes; the limit is ${SETTINGS.valueBytes}.`,
      {
        details: { limit: SETTINGS.valueBytes, seen: bytes },
      },
    );
  }
  const row: ScopeRow = {
    scopeId,
    runNo: run.runNo,
    mount,
    invocation,
    current: tx.pack(initial),
    hash: sha256Digest(initial),
    changeNumber: 0,
  };
  tx.run(
    "INSERT INTO workflow_settings (scope_id, run_no, mount, invocation, initial, current, hash, change_number) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6, 0)",
    scopeId,
    run.runNo,
    mount,
    invocation,
    row.current,
    row.hash,
  );
  tx.event(run.resourceNo, {
    type: "settings.created",
    actor: runnerActor(claim),
    payload: { scopeId, mount, invocation, hash: row.hash },
  });
  return versionOf(tx, row);
});
