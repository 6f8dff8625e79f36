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
  const text = /^[0-9a-f]{2,6}$/.test(given) ? `e-${given}` : given;
  const rows =
    text === ""
      ? []
      : db.all<EffectRow>(
          `SELECT ${EFFECT_COLUMNS} FROM effects e WHERE (e.short_id >= ?1 AND e.short_id < ?2) OR (e.effect_id >= ?1 AND e.effect_id < ?2)
           ORDER BY e.effect_no DESC LIMIT 20`,
          text,
          text + END,
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
