/**
 * Watches something with a model: looks, reports, does what is allowed, and looks again, until the end that was asked for. Between the
 * checks the run sleeps on the server.
 *
 * The input has exactly four fields. Reports go to the session that started the run, and in chat to the audience of the setting
 * `audience`: at first `monitor`, where the configuration has one, so that whoever wants them in chat names an audience that way once,
 * and a run can be moved to another or muted while it goes on. `autoimplement` and `plan-change` are taken by name.
 *
 * A change of what it does is a new revision: a folder of its own beside this one.
 */
import {
  action,
  agent,
  allowSettingsPath,
  compute,
  defineWorkflow,
  defineWorkflowRegistry,
  idempotentEffect,
  includedResult,
  includeWorkflow,
  notify,
  sleep,
  workflowSettings,
  type NodeContext,
} from "holdpoint";
import autoimplement from "holdpoint/workflows/autoimplement";
import planChange from "holdpoint/workflows/plan-change";
import { z } from "zod";
import {
  actedSchema,
  inputSchema,
  OBSERVATION_IN_WORDS,
  observationSchema,
  type Acted,
  type Action,
  type Given,
  type Input,
  type Observation,
} from "./observation.ts";
import { actPrompt, observePrompt } from "./prompts.ts";
import { byImportance, estimated, reportText, type Estimated } from "./report.ts";
import { guard, isQuoted, type Verdict } from "./rules.ts";

const settingsSchema = z.strictObject({
  audience: z.string().min(1).max(200).nullable(),
  authority: z.string().max(2_000),
});
type Settings = z.infer<typeof settingsSchema>;

interface Outputs {
  readonly observe: Observation;
  readonly guard: Verdict;
  readonly estimate: Estimated;
  readonly schedule: { readonly nextCheckAt: number };
  readonly act: Acted;
  readonly repairComplete: unknown;
  readonly planChange: { readonly exit: string; readonly output: any };
  readonly implementation: { readonly exit: string; readonly output: any };
}
type Context = NodeContext<Input, Outputs, Settings>;

const HOUR = 3_600_000;
const MINUTE = 60_000;
/** Tracks whose progress is published after a check; more would come faster than updates are taken. */
const PUBLISHED = 64;

const registry = defineWorkflowRegistry({ autoimplement, "plan-change": planChange });

export default defineWorkflow({
  name: "monitor",
  contractId: "holdpoint/monitor/1",
  maxSteps: 200_000,
  input: (given: Given): Input => inputSchema.parse(given),
  title: ({ input }) => `Monitor: ${input.task.split("\n", 1)[0]?.slice(0, 100) ?? ""}`,
  settings: workflowSettings({
    description:
      "audience: who is told in chat after each check, null for nobody. authority: what people allow beyond the task, in their words.",
    initial: { audience: "monitor", authority: "" },
    parse: (value) => settingsSchema.parse(value),
    paths: [
      allowSettingsPath("/audience", { read: ["human", "session"], replace: ["human", "session"] }),
      // A model must not be able to allow itself anything.
      allowSettingsPath("/authority", { read: ["human", "session"], replace: ["human"] }),
    ],
  }),
  startAt: "observe",
  includes: {
    planChange: includeWorkflow(
      { workflow: registry.ref("plan-change"), contractId: "holdpoint/plan-change/1" },
      {
        input: ({ input, outputs, settings }: Context) => {
          const { authority, constraints, defect, request, target } = wanted(outputs);
          return {
            task: `${request}\n\nThe defect: ${defect?.description ?? ""}`.slice(0, 8_000),
            why: {
              target,
              constraints,
              failureId: defect?.failureId ?? null,
              seen: outputs.observe?.observation ?? null,
            },
            // Only what people wrote speaks for them; without it they are asked.
            ...(isQuoted(authority, [input.task, settings?.authority ?? ""]) ? { authority } : {}),
          };
        },
      },
    ),
    implementation: includeWorkflow(
      { workflow: registry.ref("autoimplement"), contractId: "holdpoint/autoimplement/1" },
      {
        input: (context: Context) => {
          const { defect, request } = wanted(context.outputs);
          const { plan } = includedResult(context, "planChange").output;
          return { task: request, plan, repository: defect?.repository ?? ".", verify: defect?.verify ?? [] };
        },
      },
    ),
  },
  nodes: {
    observe: agent({
      statusDetail: ({ outputs }: Context) => `Check ${(outputs.guard?.checks ?? 0) + 1}`,
      timeoutMs: HOUR,
      prompt: ({ input, outputs, state }: Context) =>
        observePrompt({
          input,
          before: outputs.observe,
          verdict: outputs.guard,
          acted: state.steps.at(-1)?.nodeId === "act" ? outputs.act : undefined,
          repaired: state.steps.at(-1)?.nodeId === "repairComplete" ? outputs.repairComplete : undefined,
        }),
      expectedOutput: OBSERVATION_IN_WORDS,
      validate: (value: unknown) => observationSchema.parse(value),
    }),
    guard: compute({
      run: ({ input, outputs, results, settings }: Context): Verdict =>
        guard({
          input,
          observation: outputs.observe,
          failure: results["observe"]?.error?.message.slice(0, 1_000),
          before: outputs.guard,
          allowedSince: settings?.authority ?? "",
        }),
    }),
    estimate: action({
      effect: idempotentEffect("monitor.check"),
      run: async (context): Promise<Estimated> => {
        const { outputs, publishUpdate } = context;
        const { checks, reason, route } = verdictOf(outputs);
        const { goalState = null, targetStateId = null, workState = null } = outputs.observe ?? {};
        const data = {
          schema: "holdpoint.monitor-check.v1",
          checks,
          route,
          reason,
          goalState,
          workState,
          targetStateId,
        };
        // The receipt has the server's time, from which everything is counted.
        const { at } = await publishUpdate({ type: "monitor.check", key: "latest", data });
        return estimated(outputs.observe, outputs.estimate, at);
      },
    }),
    publish_progress: action({
      effect: idempotentEffect("monitor.progress"),
      run: async ({ outputs, publishUpdate }) => {
        const chosen = byImportance(outputs["estimate"].advances).slice(0, PUBLISHED);
        for (const { key, progress } of chosen) await publishUpdate({ type: "progress", key, data: progress });
        return { published: chosen.length };
      },
    }),
    report: notify({
      kind: "progress",
      audience: ({ settings }: Context) => settings?.audience ?? null,
      ifConfigured: true,
      format: "markdown",
      message: ({ input, outputs }: Context) => {
        const verdict = verdictOf(outputs);
        const { advances, at } = outputs.estimate as Estimated;
        return reportText({
          report: outputs.observe?.report ?? verdict.reason,
          verdict,
          advances,
          nextCheckAt: verdict.route === "wait" ? at + input.everyMinutes * MINUTE : null,
        });
      },
    }),
    decide: compute({ run: ({ outputs }: Context) => ({ route: verdictOf(outputs).route }) }),
    act: agent({
      statusDetail: ({ outputs }: Context) =>
        verdictOf(outputs).route === "stopRunners" ? "Stopping paid runners" : "Acting",
      timeoutMs: HOUR,
      prompt: ({ input, outputs }: Context) => actPrompt(input, verdictOf(outputs), outputs.observe as Observation),
      expectedOutput:
        'JSON: {"outcome": "succeeded" | "failed" | "blocked", "evidence": what was done, and how that was seen}',
      validate: (value: unknown) => actedSchema.parse(value),
    }),
    schedule: action({
      effect: idempotentEffect("monitor.schedule"),
      run: async ({ input, outputs, publishUpdate }) => {
        const { everyMinutes } = input as Input;
        const lastCheckAt = (outputs["estimate"] as Estimated).at;
        const nextCheckAt = lastCheckAt + everyMinutes * MINUTE;
        const data = { schema: "holdpoint.monitor-schedule.v1", lastCheckAt, nextCheckAt, everyMinutes };
        await publishUpdate({ type: "monitor.schedule", key: "next-check", data });
        return { nextCheckAt };
      },
    }),
    sleep: sleep({ until: ({ outputs }: Context) => outputs.schedule?.nextCheckAt ?? 0, reason: "The next check" }),
    repairComplete: compute({ run: (context: Context) => includedResult(context, "implementation").output as unknown }),
    repairReport: notify({
      kind: "progress",
      audience: ({ settings }: Context) => settings?.audience ?? null,
      ifConfigured: true,
      format: "markdown",
      message: ({ outputs }: Context) =>
        `The repair is blocked, so the monitor stops. ${blockedBy(outputs)}`.slice(0, 4_000),
    }),
    finish: compute({
      run: ({ outputs }: Context) => {
        const { checks, reason, stoppedBy } = verdictOf(outputs);
        const { goalState = null, observation = null, report = null, workState = null } = outputs.observe ?? {};
        const end =
          stoppedBy === null ? { stoppedBy: "repairBlocked", reason: blockedBy(outputs) } : { stoppedBy, reason };
        return { ...end, checks, goalState, workState, observation, report };
      },
    }),
  },
  edges: [
    // A check that fails is a result of its own; the rules say what follows.
    { from: "observe", switch: { on: "$result.outcome", cases: { ok: "guard", failed: "guard", timed_out: "guard" } } },
    { from: "guard", to: "estimate" },
    { from: "estimate", to: "publish_progress" },
    {
      from: "publish_progress",
      switch: { on: "$result.outcome", cases: { ok: "report", failed: "report", timed_out: "report" } },
    },
    { from: "report", to: "decide" },
    {
      from: "decide",
      switch: {
        on: "$.route",
        cases: {
          stop: "finish",
          wait: "schedule",
          advance: "act",
          recover: "act",
          stopRunners: "act",
          repair: "planChange",
        },
      },
    },
    {
      from: "act",
      switch: { on: "$result.outcome", cases: { ok: "observe", failed: "observe", timed_out: "observe" } },
    },
    { from: "schedule", to: "sleep" },
    { from: "sleep", to: "observe" },
    { from: "planChange.ready", to: "implementation" },
    { from: "planChange.blocked", to: "repairReport" },
    { from: "implementation.completed", to: "repairComplete" },
    { from: "implementation.blocked", to: "repairReport" },
    { from: "repairComplete", to: "observe" },
    { from: "repairReport", to: "finish" },
  ],
});

function verdictOf(outputs: Readonly<Partial<Outputs>>): Verdict {
  if (outputs.guard === undefined) throw new Error("There was no check yet.");
  return outputs.guard;
}

/** The action that the last observation asks for. */
function wanted(outputs: Readonly<Partial<Outputs>>): Action {
  const wants = outputs.observe?.action;
  if (wants === undefined) throw new Error("The observation names no action.");
  return wants;
}

function blockedBy({ implementation, planChange: changed }: Readonly<Partial<Outputs>>): string {
  const left = implementation?.exit === "blocked" ? implementation : changed;
  return String(left?.output?.reason ?? "No reason was given.");
}
