/**
 * Reads of effects for views.
 */
import type { EffectDetail, EffectSummary } from "../../contracts/protocol/operations.ts";
import { PAGE } from "../../contracts/limits.ts";
import type { Access } from "../decisions/access.ts";
import type { ReadDb } from "../reading.ts";
import { nextDoubtAt } from "./doubts.ts";
import { effectByRef } from "./find.ts";
import { effectDetail, effectSummary, OPEN_EFFECTS, SHOWN_EFFECTS, shownEffect, type ShownEffect } from "./views.ts";

export const reads = (db: ReadDb) => ({
  /** Newest first, at most a page; without `all` only those that are open. */
  list({ all }: { all: boolean }): EffectSummary[] {
    const rows = db.all<ShownEffect>(
      `${SHOWN_EFFECTS} ${all ? "" : OPEN_EFFECTS} ORDER BY e.effect_no DESC LIMIT ${PAGE.rows}`,
    );
    return rows.map((row) => effectSummary(db, row));
  },
  /** One effect with attempts and parts. Throws `effectNotFound` or `ambiguousId`. */
  get(ref: string): EffectDetail {
    return effectDetail(db, shownEffect(db, effectByRef(db, ref).effectNo));
  },
  /** Actions and messages of one run, oldest first; of more than a page those that are not settled, and the newest. */
  byRun(runNo: number): EffectSummary[] {
    const rows = db.all<ShownEffect>(
      `${SHOWN_EFFECTS} WHERE e.run_no = ?1 OR e.decision_no IN (SELECT decision_no FROM human_decisions WHERE run_no = ?1) ORDER BY e.status IN ('pending', 'applying', 'ambiguous') DESC, e.effect_no DESC LIMIT ${PAGE.rows}`,
      runNo,
    );
    return rows.toSorted((a, b) => a.effectNo - b.effectNo).map((row) => effectSummary(db, row));
  },
  /** When `effects.tendDoubts` has something to do; see there. */
  nextDoubtAt: (access: Access): number | null => nextDoubtAt(db, access),
  /** Effects that only evidence or a person can settle. */
  ambiguousCount(): number {
    return db.get<{ n: number }>("SELECT count(*) AS n FROM effects WHERE status = 'ambiguous'")?.n ?? 0;
  },
});
