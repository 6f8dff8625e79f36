/**
 * Finding the effect that a person means: full id, unique prefix of it, or short id (`e-9f31c2`, also without the letter).
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { resolveId } from "../../contracts/ids.ts";
import type { Reader } from "../statements.ts";
import { EFFECT_COLUMNS, effectById, type EffectRow } from "./rows.ts";

const END = "\u{10FFFF}";

/** Throws `effectNotFound`, or `ambiguousId` with the candidates. */
export function effectByRef(db: Reader, given: string): EffectRow {
  const exact = effectById(db, given);
  if (exact !== undefined) return exact;
  // A short id is the beginning of the hash in the id.
  const digits = /^(?:e-)?([0-9a-f]{2,6})$/.exec(given)?.[1];
  const text = digits === undefined ? given : `e-${digits}`;
  const prefix = digits === undefined ? given : `effect-${digits}`;
  const rows =
    text === ""
      ? []
      : db.all<EffectRow>(
          `SELECT ${EFFECT_COLUMNS} FROM effects e WHERE e.effect_id >= ? AND e.effect_id < ? ORDER BY e.effect_no DESC LIMIT 20`,
          prefix,
          prefix + END,
        );
  const id = resolveId(
    text,
    rows.map(({ effectId, shortId }) => ({ id: effectId, short: shortId })),
    "effect",
    "effectNotFound",
  );
  const found = rows.find(({ effectId }) => effectId === id);
  if (found === undefined) throw new HoldpointError("effectNotFound", `No effect fits "${given}".`);
  return found;
}
