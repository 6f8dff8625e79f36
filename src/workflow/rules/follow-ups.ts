/**
 * Follow-ups: prompts that are sent as ordinary turns of the conversation after a run succeeded. When one may be queued
 * and removed (CONTRACTS 1.10).
 */
import { canonicalJson, digestHex } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { FOLLOW_UP } from "../../contracts/limits.ts";

/** Who queues or removes: a model in a session, a resource manager, or a person. */
export interface FollowUpActor {
  readonly kind: "session" | "controller" | "human";
  /** Which session or manager. */
  readonly sourceId: string;
}
/** `sent`: handed to the session; `settled`: its turn has ended. */
export type FollowUpState = "queued" | "sent" | "settled" | "cancelled" | "removed";

export interface FollowUp {
  readonly followUpId: string;
  /** Order in its run, from 1. */
  readonly orderNumber: number;
  readonly source: FollowUpActor;
  readonly state: FollowUpState;
}

/** `follow-up-` and 40 hex digits of run, source and the request's key: the same request makes the same id. */
export function followUpId(runId: string, source: FollowUpActor, key: string): string {
  const { kind, sourceId } = source;
  return `follow-up-${digestHex(canonicalJson({ runId, kind, sourceId, key })).slice(0, 40)}`;
}

/**
 * The text as it is stored: exactly as given; one that begins with a slash stays plain text.
 *
 * @throws HoldpointError `followUpRefused` for an ended run, an empty or too long text, or too many unsent ones.
 */
export function judgeFollowUp(
  text: string,
  run: { readonly ended: boolean; readonly followUps: readonly FollowUp[] },
): { readonly orderNumber: number } {
  if (run.ended) throw refused("The run has ended; nothing can be queued for it any more.");
  if (text.trim() === "") throw refused("A follow-up needs a text.");
  if (text.length > FOLLOW_UP.promptChars)
    throw refused(`A follow-up has ${text.length} characters; the limit is ${FOLLOW_UP.promptChars}.`);
  const unsent = run.followUps.filter(({ state }) => state === "queued").length;
  if (unsent >= FOLLOW_UP.perRun)
    throw refused(`The run has ${unsent} unsent follow-ups; the limit is ${FOLLOW_UP.perRun}.`);
  return { orderNumber: run.followUps.reduce((most, { orderNumber }) => Math.max(most, orderNumber), 0) + 1 };
}

/** A person removes any unsent one, a model or manager its own. Undefined: it may; otherwise why not. */
export function mayRemoveFollowUp(followUp: FollowUp, actor: FollowUpActor): string | undefined {
  if (followUp.state !== "queued") return `it is ${followUp.state}`;
  if (actor.kind === "human") return undefined;
  return isOwn(followUp, actor) ? undefined : "somebody else queued it";
}

/** A manager's code comes again over the same place when its pass died: what it removed of its own stays removed. */
export function removedBefore(followUp: FollowUp, actor: FollowUpActor): boolean {
  return followUp.state === "removed" && actor.kind === "controller" && isOwn(followUp, actor);
}

function isOwn({ source }: FollowUp, { kind, sourceId }: FollowUpActor): boolean {
  return source.kind === kind && source.sourceId === sourceId;
}

function refused(text: string): HoldpointError {
  return new HoldpointError("followUpRefused", text);
}
