/** What waits for the person who asks, and showing its card again. */
import { OPERATOR, PAGE } from "../../../contracts/limits.ts";
import { showAgain } from "../../decisions/offers.ts";
import { DECISION_COLUMNS, knownDecision, type DecisionRow } from "../../decisions/rows.ts";
import { runByNo, shortIdOf } from "../../runs/rows.ts";
import type { ReplyCode } from "../../../contracts/decision/codes.ts";
import type { OperatorAnswer, Pressable } from "./answer.ts";
import { showableAt, type Asker } from "./asker.ts";
import { moreButton } from "./paging.ts";

const PENDING = `SELECT ${DECISION_COLUMNS} FROM human_decisions d WHERE d.status = 'pending' AND d.decision_no > ? ORDER BY d.decision_no LIMIT ${PAGE.rows}`;

/** All pending decisions whose card this person may be shown here, oldest first. */
export function waitingFor(asker: Asker): DecisionRow[] {
  const found: DecisionRow[] = [];
  for (let after = 0; ;) {
    const page = asker.tx.all<DecisionRow>(PENDING, after);
    found.push(...page.filter((decision) => showableAt(asker, decision) !== undefined));
    if (page.length < PAGE.rows) return found;
    after = page.at(-1)?.decisionNo ?? 0;
  }
}

export function listDecisions(asker: Asker, from: number): OperatorAnswer {
  const { tx } = asker;
  const all = waitingFor(asker);
  const page = all.slice(from, from + OPERATOR.pageItems);
  const items = page.map((decision, at) => ({
    item: from + at + 1,
    title: decision.title,
    fingerprint: decision.fingerprint,
    run: shortIdOf(tx, runByNo(tx, decision.runNo).runId),
    ...(decision.deadlineAt === null ? {} : { deadlineAt: decision.deadlineAt }),
  }));
  const rows = page.map((decision, at): Pressable[] => [
    { action: "showAgain", item: from + at + 1, target: decision.decisionId },
  ]);
  return {
    reply: { code: "decisionList", items, from, total: all.length },
    buttons: [...rows, ...moreButton("decisions", from + page.length, all.length)],
  };
}

/** Shows a card once more in this chat. */
export function showHere(asker: Asker, decisionId: string): ReplyCode {
  const { actor, tx } = asker;
  const decision = knownDecision(tx, decisionId);
  const destination = showableAt(asker, decision);
  return destination === undefined
    ? { code: "notOnList" }
    : showAgain(tx, decision, { destination, silence: null, actor });
}
