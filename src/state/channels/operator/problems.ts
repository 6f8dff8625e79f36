/**
 * What needs somebody: messages whose arrival nobody knows, cards that no destination could show, runs that do not go on. A person
 * settles a message with a button, by the operation that `channel recover` has.
 */
import { OPERATOR } from "../../../contracts/limits.ts";
import type { ReplyCode } from "../../../contracts/decision/codes.ts";
import type { OperatorAction } from "../../../contracts/decision/operator-codes.ts";
import { decisionByNo, isPending } from "../../decisions/rows.ts";
import { titleOf } from "../../effects/operator.ts";
import { settleBySaying } from "../../effects/settle-by-saying.ts";
import { runByNo, shortIdOf } from "../../runs/rows.ts";
import { EFFECT_COLUMNS, effectById, effectByNo, type EffectRow } from "../../effects/rows.ts";
import { alertsFor } from "./alerts.ts";
import type { OperatorAnswer, Pressable } from "./answer.ts";
import { mayAnswer, mayName, type Asker } from "./asker.ts";
import { moreButton } from "./paging.ts";
import { stuckRuns } from "./runs.ts";

/** One more than are looked at tells that there are more. */
const MOST = OPERATOR.problems + 1;
/** Only what tells whose a message is: they are counted, and those of one page are read whole. */
const WHOSE = `e.effect_no AS effectNo, e.channel_id AS channelId, e.decision_no AS decisionNo, e.purpose`;
const IN_DOUBT = `SELECT ${WHOSE} FROM effects e WHERE e.status = 'ambiguous' AND e.purpose <> 'action' ORDER BY e.effect_no LIMIT ${MOST}`;
const UNDELIVERABLE = `SELECT ${WHOSE} FROM human_decisions d JOIN effects e ON e.decision_no = d.decision_no
  WHERE d.status = 'pending' AND e.purpose = 'delivery' AND e.status = 'rejected' AND NOT EXISTS (SELECT 1 FROM effects o
    WHERE o.decision_no = d.decision_no AND o.purpose = 'delivery' AND o.status NOT IN ('rejected', 'cancelled'))
  ORDER BY e.effect_no LIMIT ${MOST}`;

type ProblemList = Extract<ReplyCode, { code: "problemList" }>;
type Whose = Pick<EffectRow, "effectNo" | "channelId" | "decisionNo" | "purpose">;
type Kind = "inDoubt" | "undeliverable";
type Problem = Whose & { readonly problem: Kind };

/**
 * Messages that this person may settle: those of the channel, and cards that they may answer themselves. `more` when not all were
 * looked at: this is within the command of a tap, for which everybody waits.
 */
export function problemsFor(asker: Asker): { readonly problems: readonly Problem[]; readonly more: boolean } {
  const kinds = [
    { problem: "inDoubt", found: asker.tx.all<Whose>(IN_DOUBT) },
    { problem: "undeliverable", found: asker.tx.all<Whose>(UNDELIVERABLE) },
  ] as const;
  const problems = kinds
    .flatMap(({ found, problem }) =>
      found.slice(0, OPERATOR.problems).map((effect): Problem => ({ ...effect, problem })),
    )
    .filter((effect) => maySettle(asker, effect));
  return { problems, more: kinds.some(({ found }) => found.length === MOST) };
}

function maySettle(asker: Asker, effect: Whose): boolean {
  if (effect.purpose === "action") return false;
  if (effect.channelId === asker.origin.channel.channelId) return true;
  return effect.decisionNo !== null && mayAnswer(asker, decisionByNo(asker.tx, effect.decisionNo));
}

export function listProblems(asker: Asker, from: number): OperatorAnswer {
  const { more, problems: all } = problemsFor(asker);
  const page = all
    .slice(from, from + OPERATOR.pageItems)
    .map(({ effectNo, problem }) => ({ effect: effectByNo(asker.tx, effectNo) as EffectRow, problem }));
  const items = page.map(({ effect, problem }, at) => ({
    item: from + at + 1,
    problem,
    id: effect.shortId,
    ...titleHere(asker, effect),
    destination: effect.destination as string,
    at: effect.createdAt,
  }));
  const rows = page.map(({ effect, problem }, at) => buttonsFor(asker, effect, problem, from + at + 1));
  const actions = from > 0 ? [] : actionsInDoubt(asker);
  const alerts = alertsFor(asker).length;
  const told = new Set(actions.map(({ run }) => run));
  const runs = from > 0 ? [] : stuckRuns(asker.tx).filter(({ run }) => !told.has(run));
  return {
    reply: {
      code: "problemList",
      items,
      ...(actions.length === 0 ? {} : { actions }),
      runs: runs.slice(0, OPERATOR.candidates),
      ...(alerts === 0 ? {} : { alerts }),
      ...(more ? { more } : {}),
      from,
      total: all.length,
    },
    buttons: [...rows, ...moreButton("problems", from + page.length, all.length)],
  };
}

/** Actions in doubt, oldest first: what happened is said on the server, where it can be looked up. */
function actionsInDoubt({ tx }: Asker): NonNullable<ProblemList["actions"]> {
  return tx
    .all<EffectRow>(
      `SELECT ${EFFECT_COLUMNS} FROM effects e WHERE e.status = 'ambiguous' AND e.purpose = 'action' ORDER BY e.effect_no LIMIT ${OPERATOR.candidates}`,
    )
    .map(({ createdAt, effectType, runNo, shortId }) => ({
      id: shortId,
      type: effectType,
      run: shortIdOf(tx, runByNo(tx, runNo as number).runId),
      at: createdAt,
    }));
}

/** Nothing is sent again for a decision that is over. */
function buttonsFor({ tx }: Asker, effect: EffectRow, problem: Kind, item: number): Pressable[] {
  const over = effect.decisionNo !== null && !isPending(tx, effect.decisionNo);
  const actions: OperatorAction[] =
    problem === "undeliverable" ? ["sendAgain"] : over ? ["arrived", "drop"] : ["arrived", "sendAgain", "drop"];
  return actions.map((action) => ({ action, item, target: effect.effectId }));
}

function titleHere(asker: Asker, effect: EffectRow): { title?: string } {
  const { origin, tx } = asker;
  const named =
    effect.decisionNo === null ? effect.place === origin.place : mayName(asker, decisionByNo(tx, effect.decisionNo));
  return named ? { title: titleOf(tx, effect) } : {};
}

const RECOVER = { arrived: "confirm", sendAgain: "retry", drop: "drop" } as const;

/** Settles a message as the button says. */
export function settleProblem(asker: Asker, action: keyof typeof RECOVER, effectId: string): ReplyCode {
  const { actor, name, origin, tx } = asker;
  const effect = effectById(tx, effectId);
  if (effect === undefined || !maySettle(asker, effect)) return { code: "notOnList" };
  const via = { by: name ?? null, channel: origin.channel.channelId, updateId: origin.updateId };
  const title = titleHere(asker, effect).title ?? effect.shortId;
  return settleBySaying(tx, effect, { action: RECOVER[action], actor, name: name ?? null, title, via });
}
