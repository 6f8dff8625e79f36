// What the operator chat answers: codes with values, as for everything that people are told. Lists come in pages, so that an answer
// fits one message; the buttons under it are named here too, what they do is known on our side only.

import { z } from "zod";

import { alertMemberSchema } from "../alert.ts";
import { findingSchema } from "../monitor/finding.ts";
import { runStatusSchema } from "../run-status.ts";
import { timeSchema } from "./request.ts";

/** Commands that people may write, as the channel registers them; `start` and `workflow-channel` work too. */
export const OPERATOR_COMMANDS = [
  "status",
  "decisions",
  "runs",
  "run",
  "pause",
  "resume",
  "cancel",
  "alerts",
  "monitors",
  "problems",
  "help",
] as const;
export type OperatorCommand = (typeof OPERATOR_COMMANDS)[number];

/** The older command for messages in doubt; understood, not offered. */
export const CHANNEL_COMMAND = "workflow-channel";

const count = z.number().int().nonnegative();
const verb = z.enum(["pause", "resume", "cancel"]);

const runLine = z.strictObject({
  /** Short id. */
  run: z.string(),
  workflow: z.string(),
  title: z.string().optional(),
  status: runStatusSchema,
});

/** Position of a page: `from` items came before it, `total` there are. */
const page = { from: count, total: count } as const;

export const OPERATOR_REPLIES = [
  z.strictObject({
    code: z.literal("serviceStatus"),
    /** Absent where the server did not say. */
    since: timeSchema.optional(),
    channels: z.array(
      z.strictObject({
        channel: z.string(),
        state: z.enum(["starting", "ready", "down", "stopped"]),
        lastPollAt: timeSchema.optional(),
      }),
    ),
    /** Unfinished runs by status. */
    runs: z.array(z.strictObject({ status: runStatusSchema, count })),
    /** Decisions that wait for the one who asks. */
    decisions: count,
    problems: count,
    /** There are more than were counted. */
    moreProblems: z.literal(true).optional(),
    /** Alerts that hold; left out: none. */
    alerts: count.optional(),
    /** Monitors, those with an open alert, and the next look. */
    checks: z.strictObject({ total: count, troubled: count, nextAt: timeSchema.optional() }),
  }),
  z.strictObject({
    code: z.literal("decisionList"),
    items: z.array(
      z.strictObject({
        item: count,
        title: z.string(),
        fingerprint: z.string(),
        run: z.string(),
        deadlineAt: timeSchema.optional(),
      }),
    ),
    ...page,
  }),
  z.strictObject({ code: z.literal("runList"), items: z.array(runLine), ...page }),
  z.strictObject({
    code: z.literal("runDetail"),
    run: runLine,
    node: z.string().optional(),
    steps: count,
    createdAt: timeSchema,
    finishedAt: timeSchema.optional(),
    /** Title of the decision it waits for, where that may be told. */
    decision: z.string().optional(),
    error: z.string().optional(),
  }),
  /** A command that needs a run, without one: those it could mean. */
  z.strictObject({
    code: z.literal("runWanted"),
    verb: z.enum(["run", "pause", "resume", "cancel"]),
    runs: z.array(runLine),
  }),
  z.strictObject({ code: z.literal("runUnknown"), given: z.string() }),
  z.strictObject({ code: z.literal("runSeveral"), given: z.string(), runs: z.array(z.string()) }),
  z.strictObject({ code: z.literal("runControlled"), verb, run: runLine }),
  z.strictObject({
    code: z.literal("runRefused"),
    verb,
    run: runLine,
    reason: z.enum([
      "ended",
      "notPaused",
      "waitsForDecision",
      "waitsForCheckpoint",
      "waitsForSession",
      "sleeps",
      "unsettled",
    ]),
  }),
  /** Asks back before the run is cancelled. */
  z.strictObject({ code: z.literal("cancelAsk"), run: runLine }),
  z.strictObject({
    code: z.literal("problemList"),
    items: z.array(
      z.strictObject({
        item: count,
        /** `inDoubt`: nobody knows whether it arrived. `undeliverable`: no destination could show the card. */
        problem: z.enum(["inDoubt", "undeliverable"]),
        /** Short id of the message. */
        id: z.string(),
        /** Absent where it is not for this chat. */
        title: z.string().optional(),
        destination: z.string(),
        at: timeSchema,
      }),
    ),
    /** Actions of workflows of which nobody knows whether they took effect; they are settled on the server. */
    actions: z.array(z.strictObject({ id: z.string(), type: z.string(), run: z.string(), at: timeSchema })).optional(),
    /** Runs that wait for somebody. */
    runs: z.array(runLine),
    /** Alerts that hold and may be told here; left out: none. */
    alerts: count.optional(),
    /** There are more than `total`. */
    more: z.literal(true).optional(),
    ...page,
  }),
  z.strictObject({
    code: z.literal("alertList"),
    /** What nobody has taken first. */
    items: z.array(z.strictObject({ item: count, ...alertMemberSchema.shape, since: timeSchema })),
    ...page,
  }),
  z.strictObject({
    code: z.literal("monitorList"),
    /** Not well first. */
    items: z.array(
      z.strictObject({
        name: z.string(),
        title: z.string(),
        standing: z.enum(["new", "up", "down", "unstable"]),
        since: timeSchema.optional(),
        finding: findingSchema.optional(),
      }),
    ),
    /** Of all: those with an open alert. */
    troubled: count,
    /** Alerts that hold and may be told here; left out: none. */
    alerts: count.optional(),
    ...page,
  }),
  z.strictObject({ code: z.literal("commandHelp"), commands: z.array(z.enum(OPERATOR_COMMANDS)), waiting: count }),
  /** Toasts of the buttons. */
  z.strictObject({ code: z.literal("moreBelow") }),
  z.strictObject({ code: z.literal("runKept"), run: z.string() }),
  z.strictObject({ code: z.literal("buttonUsed"), by: z.string().optional(), at: timeSchema }),
  z.strictObject({ code: z.literal("buttonOfOther") }),
] as const;

const operatorReplySchema = z.discriminatedUnion("code", OPERATOR_REPLIES);
export type OperatorReply = z.infer<typeof operatorReplySchema>;

/** What a button under such an answer does. */
export const operatorActionSchema = z.enum([
  "showAgain",
  "more",
  "arrived",
  "sendAgain",
  "drop",
  "cancelRun",
  "keepRun",
  "acknowledge",
  "snooze",
]);
export type OperatorAction = z.infer<typeof operatorActionSchema>;

/** A button: what it does, and to which item of the answer; -1 for the answer as a whole. */
export const operatorButtonSchema = z.strictObject({ action: operatorActionSchema, item: z.number().int().min(-1) });
export type OperatorButton = z.infer<typeof operatorButtonSchema>;

/** What somebody did with such a button; stands under the answer from then on. */
export const operatorUseSchema = z.strictObject({
  ...operatorButtonSchema.shape,
  by: z.string().optional(),
  at: timeSchema,
});
export type OperatorUse = z.infer<typeof operatorUseSchema>;

/** The name under which a button's token travels beside the answer. */
export function buttonKey({ action, item }: OperatorButton): string {
  return `${item}.${action}`;
}
