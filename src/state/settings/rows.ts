/** Rows of settings scopes, and how a scope of a run is found. */
import { HoldpointError } from "../../contracts/errors.ts";
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import type { SettingsSnapshot, SettingsVersion } from "../../contracts/settings.ts";
import type { RunRow } from "../runs/rows.ts";
import type { Reader } from "../statements.ts";

export interface ScopeRow {
  readonly scopeId: string;
  readonly runNo: number;
  readonly mount: string;
  readonly invocation: number;
  /** Packed. */
  readonly current: string;
  readonly hash: string;
  readonly changeNumber: number;
}

const SELECT = `SELECT scope_id AS scopeId, run_no AS runNo, mount, invocation, current, hash, change_number AS changeNumber FROM workflow_settings`;

export function scopeById(db: Reader, scopeId: string): ScopeRow | undefined {
  return db.get<ScopeRow>(`${SELECT} WHERE scope_id = ?`, scopeId);
}

/** The latest invocation of a mount; the root has the empty path. Throws `settingsRefused` when it has no settings (yet). */
export function latestScope(db: Reader, run: RunRow, mount: string): ScopeRow {
  const row = db.get<ScopeRow>(
    `${SELECT} WHERE run_no = ? AND mount = ? ORDER BY invocation DESC LIMIT 1`,
    run.runNo,
    mount,
  );
  if (row !== undefined) return row;
  const others = db.all<{ mount: string }>(
    "SELECT DISTINCT mount FROM workflow_settings WHERE run_no = ? ORDER BY mount LIMIT 20",
    run.runNo,
  );
  const where = mount === "" ? "at its root" : `at mount "${mount}"`;
  const known =
    others.length === 0
      ? ""
      : `; it has some at ${others.map((other) => (other.mount === "" ? "its root" : `"${other.mount}"`)).join(", ")}`;
  throw new HoldpointError(
    "settingsRefused",
    `Run ${run.runId} has no settings ${where}, or has not come to use them yet${known}.`,
    {
      remedy: "See what can be set with `holdpoint settings <run>`.",
      details: { mount, mounts: others.map((other) => other.mount) },
    },
  );
}

export function allScopes(db: Reader, runNo: number): ScopeRow[] {
  return db.all<ScopeRow>(`${SELECT} WHERE run_no = ? ORDER BY mount, invocation LIMIT 256`, runNo);
}

export function versionOf(db: { unpack(text: string): JsonValue }, row: ScopeRow): SettingsVersion {
  const { changeNumber, hash, scopeId } = row;
  return { scopeId, changeNumber, value: db.unpack(row.current), hash };
}

/** What the definition says of the settings at a mount, or undefined when there are none. */
export function rulesAt(definition: DefinitionSnapshot, mount: string): SettingsSnapshot | undefined {
  return mount === "" ? definition.settings : definition.includes?.[mount]?.settings;
}
