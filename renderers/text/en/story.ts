/**
 * The sentences of a run: what happened, what was asked, what was done outside and how sure that is, what comes next.
 * Pure: from views to lines. Words for single events are in renderers/text.
 */
import type {
  DecisionSummary,
  EffectSummary,
  RunView,
  TimelineItem,
} from "../../../src/contracts/protocol/operations.ts";
import { timelineText } from "../timeline.ts";
import { clean } from "../../terminal/layout.ts";
import { when } from "../../terminal/times.ts";

/** Events that say only how the machinery works; the story is easier to follow without them (`--json` has them). */
const MACHINERY = new Set([
  "run.queued",
  "runner.launched",
  "run.continued",
  "delivery.recorded",
  "delivery.dispatching",
  "reply.outcome",
  "settlement.queued",
  "settlement.outcome",
  "notification.outcome",
  "settings.created",
]);

/** Events worth a line for people, oldest first. */
export function storyItems(timeline: readonly TimelineItem[]): TimelineItem[] {
  return timeline.filter((item) => !MACHINERY.has(item.type));
}

export function itemText(item: TimelineItem): string {
  return clean(timelineText(item));
}

const STATUS: Record<string, string> = { timed_out: "timed out", ambiguous: "needs a person" };

/** A status as a word for people. */
export function statusWord(status: string): string {
  return STATUS[status] ?? status;
}

/** Where a decision went, one line per destination. */
export function destinationLines(decision: DecisionSummary): string[] {
  const lines = decision.destinations.map(({ destination, status, shown }) => {
    const messages = shown === 1 ? "1 message" : `${shown} messages`;
    return `${clean(destination)}: ${shown > 0 ? `shown (${messages})` : deliveryWord(status)}`;
  });
  return decision.decideWith === null ? lines : [...lines, `terminal: ${clean(decision.decideWith)}`];
}

function deliveryWord(status: string): string {
  switch (status) {
    case "pending":
      return "waiting to be sent";
    case "applying":
      return "being sent";
    case "ambiguous":
      return "not known whether it arrived";
    case "rejected":
      return "refused";
    default:
      return status;
  }
}

/** "Answer by …; without an answer: …" of an open decision. */
export function deadlineLine(decision: DecisionSummary): string {
  if (decision.deadlineAt === null) return "No deadline.";
  const label = decision.choices.find((choice) => choice.id === decision.defaultChoice)?.label;
  const otherwise = label === undefined ? "Without an answer the run fails." : `Without an answer: ${clean(label)}.`;
  return `Answer by ${when(decision.deadlineAt)}. ${otherwise}`;
}

/** How a decision is decided where that is not simply the first answer, and what happens meanwhile. */
export function policyLines({ policy, status }: DecisionSummary): string[] {
  const { assurance, channels, escalation, everybodyVoted, quorum, reminders, veto, votes } = policy;
  const lines: string[] = [];
  if (quorum > 1) {
    const alone = veto.length === 0 ? "" : ` ${veto.map(clean).join(" or ")} by one person decides at once.`;
    lines.push(`${quorum} people must choose the same.${alone}`);
    const cast = votes.map(
      ({ by, label }) => `${clean(label)} ${by.length} of ${quorum} (${by.map(clean).join(", ")})`,
    );
    lines.push(cast.length === 0 ? "No votes yet." : `Votes: ${cast.join(", ")}.`);
    if (everybodyVoted) lines.push("Everybody has voted, and no choice has enough; a vote can still be changed.");
  }
  if (channels.length > 0) lines.push(`Takes answers over ${channels.map(clean).join(" or ")} only.`);
  if (assurance === "remote") lines.push("Takes no answers from this machine.");
  if (reminders !== null) {
    const { atMost, nextAt, sent } = reminders;
    const next = nextAt === null ? "" : `, the next ${when(nextAt)}`;
    if (sent > 0 || nextAt !== null) lines.push(`Reminders: ${sent} of ${atMost} sent${next}.`);
  }
  if (escalation !== null) {
    const { at, dueAt, names, to } = escalation;
    const who = names.length === 0 ? clean(to) : `${clean(to)} (${names.map(clean).join(", ")})`;
    if (at !== null) lines.push(`Passed on to ${who}, ${when(at)}: ${ESCALATED[escalation.cause ?? "silence"]}.`);
    else if (dueAt !== null) lines.push(`Passed on to ${who} ${when(dueAt)}, unless answered before.`);
    else if (status === "pending") lines.push(`Could not be passed on to ${who}: no such audience is configured.`);
  }
  return lines;
}

const ESCALATED = {
  silence: "nobody had answered",
  undeliverable: "no destination could show the card",
  noQuorum: "everybody had voted and no choice had enough",
} as const;

/** What became of a decision, in one sentence. */
export function resolutionLine(decision: DecisionSummary): string {
  const resolution = decision.resolution;
  if (resolution === null) {
    const choices = decision.choices.map((choice) => `${clean(choice.label)}${choice.input ? "…" : ""}`);
    return `Waiting: ${choices.join(" | ")}`;
  }
  if (resolution.outcome === "cancelled") return `Cancelled, ${when(resolution.resolvedAt)}.`;
  const label = clean(resolution.label ?? resolution.choice ?? "answered");
  const text = resolution.input === null ? "" : `, "${clean(resolution.input)}"`;
  if (resolution.outcome === "timedOut") {
    const then = resolution.choice === null ? "the decision expired" : `${label} was used`;
    return `No answer in time: ${then}, ${when(resolution.resolvedAt)}.`;
  }
  const by = resolution.by === null ? "" : ` by ${clean(resolution.by)}`;
  const channel = resolution.channel === null ? "" : ` over ${clean(resolution.channel)}`;
  const how = resolution.assurance === null ? "" : ` (${resolution.assurance})`;
  const grace = resolution.graceAfterOutage
    ? " It counted although it came in after the deadline: the service was away."
    : "";
  return `${label}${text}${by}, ${when(resolution.resolvedAt)}${channel}${how}.${grace}`;
}

/** How sure it is that an effect happened. */
export function certainty(effect: EffectSummary): string {
  const times = effect.attempts === 1 ? "1 attempt" : `${effect.attempts} attempts`;
  switch (effect.status) {
    case "applied":
      return `done, confirmed (${times})`;
    case "rejected":
      return `refused: ${clean(effect.error?.message ?? "no reason given")} (${times})`;
    case "ambiguous":
      return `not known whether it happened (${times})`;
    case "cancelled":
      return "not done: cancelled";
    case "applying":
      return `under way (${times})`;
    default:
      if (effect.attempts === 0) return "not begun";
      return effect.nextAttemptAt === null
        ? `will be tried again (${times})`
        : `next attempt ${when(effect.nextAttemptAt)} (${times})`;
  }
}

/** Messages beside the card. */
const NOTICES: Readonly<Record<string, string>> = {
  "notice.reminder": "reminder",
  "notice.escalated": "word of passing on",
  "card.document": "document with the whole text",
};

/** Effect types and places in one phrase, for lists. */
export function effectTitle(effect: EffectSummary): string {
  const subject = effect.decisionFingerprint === null ? "" : ` of ${effect.decisionFingerprint}`;
  if (effect.purpose === "action") return clean(effect.type);
  const notice = NOTICES[effect.type];
  const place = effect.destination === null ? "" : ` at ${clean(effect.destination)}`;
  const what =
    notice ??
    { delivery: "card", settlement: "outcome on the card", reply: "reply", notification: "notification" }[
      effect.purpose
    ] ??
    effect.purpose;
  return `${what}${subject}${place}`;
}

/** What a run waits for, in one or two sentences. */
export function nextLines(view: RunView): string[] {
  if (view.run.finishedAt !== null) return ["Nothing: the run is over."];
  const lines: string[] = [];
  if (view.run.reason !== null) lines.push(clean(view.run.reason));
  if (view.run.wakeAt !== null) lines.push(`It goes on by itself ${when(view.run.wakeAt)}.`);
  for (const decision of view.decisions) {
    if (decision.status === "pending") lines.push(`${decision.fingerprint}: ${deadlineLine(decision)}`);
  }
  for (const effect of view.effects) {
    if (effect.settleWith !== null)
      lines.push(`${effect.shortId} (${effectTitle(effect)}): ${clean(effect.settleWith)}`);
  }
  if (view.nextStep !== null) lines.push(clean(view.nextStep));
  return lines.length > 0 ? [...new Set(lines)] : ["It goes on by itself."];
}
