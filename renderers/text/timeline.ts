/**
 * Words for the events of a run's story. An event type without words of its own is shown by its type, never hidden.
 */
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import type { TimelineItem } from "../../src/contracts/protocol/operations.ts";

type Values = Record<string, unknown>;

const str = (value: unknown): string =>
  value === null || value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value);
/** Longest error in a sentence, in UTF-16 units: the same one ends a node and its run, and is shown whole with the run. */
const ERROR_UNITS = 200;
const errorOf = (values: Values): string => {
  const error = values["error"];
  return typeof error === "object" && error !== null && "message" in error
    ? cutToUnits(String(error.message), ERROR_UNITS)
    : "";
};
const tail = (text: string, before = ": "): string => (text ? `${before}${text}` : "");

const list = (value: unknown): string => (Array.isArray(value) ? value.map(str).join(", ") : str(value));

const seconds = (value: unknown): string => `${Math.ceil(Number(value) / 1_000)} s`;

/** A time in text that is the same wherever it is read. */
const instant = (value: unknown): string =>
  `${new Date(Number(value)).toISOString().slice(0, 16).replace("T", " ")} UTC`;

/** How an attempt of an effect begins. */
const RESERVED: Readonly<Record<string, string>> = {
  repeat: "is done again with the same key",
  observe: "may have happened; looking first",
};

/** What became of an attempt of an effect. */
const REPORTED: Readonly<Record<string, string>> = {
  applied: "done",
  rejected: "failed",
  notApplied: "looked, it had not happened",
  ambiguous: "not known whether it happened",
};

const REFUSED: Readonly<Record<string, string>> = {
  notOnList: "not among those who may answer",
  wrongChannel: "this channel does not count for it",
  remoteOnly: "it must come from another device",
  terminalOff: "the audience does not name the terminal",
  piOff: "the audience does not name Pi",
  accountUnmapped: "the account belongs to nobody by name, and several persons must agree",
  alreadyDecided: "the decision was over",
  stale: "it was for another version of the question",
  expired: "it came too late",
  unknownChoice: "there is no such choice",
};

/** Why a second audience was asked. */
const CAUSES: Readonly<Record<string, string>> = {
  silence: "nobody had answered",
  undeliverable: "the card could not be shown",
  noQuorum: "everybody had voted and no choice had enough",
};

/** Why an answer did not count; a rule of the text comes with what was seen. */
function refusedBecause(reason: string): string {
  const [rule = "", seen] = reason.split(": ");
  const words = REFUSED[rule] ?? rule.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return seen === undefined ? words : `${words}: ${seen}`;
}

/** Who did it, when it was done from a chat. */
function inChat(values: Values): string {
  const by = str(values["by"]);
  const where = str(values["channel"]);
  return `${by === "" ? "" : ` by ${by}`}${where === "" ? "" : ` over ${where}`}`;
}

const WORDS: Readonly<Record<string, (values: Values) => string>> = {
  "run.queued": (v) => `Queued: ${str(v["workflow"])}`,
  "runner.launched": (v) => `Runner started (${str(v["command"])}, generation ${str(v["generation"])})`,
  "run.started": (v) => `Started at ${str(v["nodeId"])}`,
  "run.resumed": (v) =>
    `Goes on at ${str(v["nodeId"])}${v["interrupted"] === true ? ", which had been interrupted" : ""}`,
  "run.continued": (v) =>
    v["timerId"] === undefined ? "The answer is in; the run continues" : "The time has come; the run continues",
  "run.released": (v) => `Begins: the turn of session ${str(v["session"])} that started it has ended`,
  "interaction.requested": (v) => `Waits for the agent of session ${str(v["session"])}: ${str(v["nodeId"])}`,
  "interaction.submitted": (v) => `The agent handed in a result of ${str(v["nodeId"])}`,
  "interaction.accepted": (v) => `The result of ${str(v["nodeId"])} was accepted`,
  "interaction.rejected": (v) => `The result of ${str(v["nodeId"])} was refused${tail(str(v["message"]))}`,
  "interaction.failed": (v) => `The agent gave no result of ${str(v["nodeId"])}${tail(errorOf(v))}`,
  "interaction.timedOut": (v) => `The agent of ${str(v["nodeId"])} ran out of time${tail(errorOf(v))}`,
  "message.outcome": (v) => `Message to ${str(v["destination"])}: ${str(v["outcome"])}${tail(errorOf(v))}`,
  "run.parked": (v) => `Parked: ${str(v["reason"])}${tail(errorOf(v))}`,
  "run.sourcesGone": (v) => `Cannot go on after an answer${tail(errorOf(v))}`,
  "run.sourcesBack": () => "Can go on after an answer again",
  "run.requeued": (v) =>
    `Queued again after the runner ${str(v["cause"])}${Number(v["delayMs"]) > 0 ? `, in ${seconds(v["delayMs"])}` : ""}`,
  "run.paused": (v) => `Paused${inChat(v)}`,
  "run.unpaused": (v) => `Resumed by command${inChat(v)}`,
  "run.finished": (v) => `Run ${str(v["status"]).replace("_", " ")}${tail(errorOf(v))}`,
  "run.cancelled": (v) => `Run cancelled${inChat(v)}${tail(str(v["reason"]))}`,
  "node.finished": (v) =>
    `${str(v["nodeId"])} ${v["outcome"] === "ok" ? "done" : str(v["outcome"]).replace("_", " ")}${tail(errorOf(v))}`,
  "effect.reserved": (v) =>
    `Effect ${str(v["effectType"])} ${RESERVED[str(v["state"])] ?? "begins"} (attempt ${str(v["attempt"])})`,
  "effect.reported": (v) =>
    `Effect ${str(v["effectType"])}: ${REPORTED[str(v["outcome"])] ?? str(v["outcome"])}${tail(errorOf(v))}`,
  "effect.state": (v) =>
    `Effect ${str(v["kind"])} (attempt ${str(v["attempt"])}): ${str(v["state"])}${tail(str(v["error"]))}`,
  "effect.settled": (v) => `Effect ${str(v["effectType"])} settled by a person: ${str(v["outcome"])}${inChat(v)}`,
  "checkpoint.requested": (v) =>
    `Stopped at checkpoint ${str(v["nodeId"])} (${str(v["shortId"])})${tail(str(v["summary"]))}`,
  "checkpoint.answered": (v) => `Checkpoint ${str(v["nodeId"])} answered`,
  "timer.set": (v) => `Sleeps until ${instant(v["wakeAt"])}${tail(str(v["reason"]))}`,
  "timer.fired": (v) =>
    `Woke${Number(v["lateMs"]) >= 60_000 ? `, ${seconds(v["lateMs"])} late: nobody could wake it sooner` : ""}`,
  "notification.stored": (v) => `Told${v["audience"] == null ? "" : ` ${str(v["audience"])}`}: ${str(v["message"])}`,
  "notification.outcome": (v) => `Message to ${str(v["destination"])}: ${str(v["outcome"])}${tail(errorOf(v))}`,
  "settings.created": (v) => `Settings ${str(v["scopeId"])} begin`,
  "settings.changed": (v) => `Settings changed (version ${str(v["changeNumber"])})${tail(list(v["paths"]))}`,
  "settings.routeRetried": (v) => `${str(v["nodeId"])} decides again: its settings had changed`,
  "followUp.queued": (v) => `Follow-up ${str(v["orderNumber"])} queued`,
  "followUp.removed": (v) => `Follow-up ${str(v["orderNumber"])} removed`,
  "include.entered": (v) => `Entered ${str(v["mount"])} (${str(v["workflow"])}, invocation ${str(v["invocation"])})`,
  "include.exited": (v) => `Left ${str(v["mount"])} through ${str(v["exit"])}`,
  "run.restarted": (v) => `Restarted as ${str(v["runId"])}`,
  "effect.cancelled": () => "An effect that had not begun was cancelled with the run",
  "effect.ambiguous": () => "The run was cancelled while an effect was under way; whether it happened is not known",
  "decision.requested": (v) => `Asked ${str(v["audience"])}: ${str(v["title"])} (${str(v["fingerprint"])})`,
  "delivery.recorded": (v) => `Attempt ${str(v["attempt"])} to ${str(v["destination"])} recorded`,
  "delivery.dispatching": (v) => `Sending part ${str(v["part"])}/${str(v["of"])} to ${str(v["destination"])}`,
  "delivery.part": (v) =>
    `Part ${str(v["part"])}/${str(v["of"])} shown at ${str(v["destination"])}, message ${str(v["reference"])}`,
  "delivery.outcome": (v) =>
    `Attempt ${str(v["attempt"])} to ${str(v["destination"])}: ${str(v["outcome"])}${tail(errorOf(v))}`,
  "decision.vote": (v) => `Vote: ${str(v["choice"])} by ${str(v["by"])} (${str(v["have"])} of ${str(v["need"])})`,
  "decision.voteRevoked": (v) =>
    `A vote does not count any more: ${str(v["choice"])} by ${str(v["by"]) || str(v["personId"])}, who may not answer now`,
  "decision.turnout": (v) =>
    v["everybodyVoted"] === true
      ? "Everybody who may vote now has voted, and no choice has enough"
      : "Somebody may vote who has not voted yet",
  "decision.reminded": (v) => `Reminder ${str(v["number"])} of ${str(v["of"])} sent to ${list(v["destinations"])}`,
  "decision.escalated": (v) =>
    `Passed on to ${str(v["to"])}${tail(list(v["names"]))} (${CAUSES[str(v["cause"])] ?? str(v["cause"])})`,
  "decision.escalationFailed": (v) =>
    `Could not be passed on to ${str(v["to"])}: this audience is not configured any more`,
  "decision.answered": (v) =>
    `Answered: ${str(v["choice"])}${tail(str(v["input"]))} by ${str(v["by"])} over ${str(v["channel"])}`,
  "decision.refused": (v) =>
    `An answer did not count (${refusedBecause(str(v["reason"]))})${tail(str(v["choice"]))} by ${str(v["by"]) || "somebody who may not answer"} over ${str(v["channel"])}`,
  "decision.timedOut": (v) => `No answer in time; the default is used: ${str(v["choice"])}`,
  "decision.expired": () => "No answer in time, and no default",
  "decision.cancelled": (v) => `Decision cancelled${tail(str(v["reason"]))}`,
  "operator.pressed": (v) => `A button of the operator chat: ${str(v["action"])}${inChat(v)}`,
  "settlement.queued": (v) => `Card ${str(v["reference"])} is to show the outcome`,
  "settlement.outcome": (v) => `Card ${str(v["reference"])} shows the outcome: ${str(v["outcome"])}`,
  "reply.outcome": (v) => `Reply to ${str(v["destination"])}: ${str(v["outcome"])}${tail(errorOf(v))}`,
  "decision.undeliverable": () => "No destination could show the card; it can still be answered",
  "decision.offeredAgain": (v) => `Offered again at ${str(v["destination"])}`,
  "delivery.resent": (v) =>
    `Not confirmed for ${seconds(v["afterMs"])}; sent again to ${str(v["destination"])}, as its audience wants`,
  "delivery.asked": (v) => `Asked at ${str(v["at"])} whether the message for ${str(v["destination"])} arrived`,
  "channel.placeDead": (v) => `Chat ${str(v["place"])} cannot be reached${tail(errorOf(v))}`,
  "channel.placeBack": (v) => `Chat ${str(v["place"])} can be reached again`,
  "channel.placeMoved": (v) => `Chat ${str(v["place"])} is ${str(v["movedTo"])} now`,
  "channel.silenceEnded": (v) => `The channel hears again; ${str(v["cards"])} cards are offered again`,
  "channel.opened": (v) => `The adapter speaks for the channel (epoch ${str(v["channelEpoch"])})`,
  "channel.deaf": (v) => `The channel hears nothing (${str(v["cause"])})`,
  "channel.hears": () => "The channel hears again",
  "server.started": () => "The server started",
  "server.recovered": (v) =>
    `The server put in order what its predecessor left: ${str(v["runsRequeued"])} runs queued again, ${str(v["attemptsAmbiguous"])} attempts in doubt`,
  "server.stopped": () => "The server stopped",
};

/** One sentence for an event, without its time. Values are inert text; the terminal renderer strips control characters. */
export function timelineText(item: Pick<TimelineItem, "type" | "detail">): string {
  const values =
    typeof item.detail === "object" && item.detail !== null && !Array.isArray(item.detail) ? item.detail : {};
  const word = Object.hasOwn(WORDS, item.type) ? WORDS[item.type] : undefined;
  return word ? word(values) : item.type;
}
