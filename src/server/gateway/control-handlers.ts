/**
 * Operations on running work beyond start, pause and cancel: restart, checkpoints, settings, follow-ups, updates. The caller of
 * client.v1 is a person at this machine; what a model or a manager may do comes through other doors.
 */
import { sha256Hex } from "../../contracts/ids.ts";
import { CONTENT, PAGE } from "../../contracts/limits.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import type { OperationName } from "../../contracts/protocol/operations.ts";
import type { Receipt } from "../../state/store.ts";
import type { ServerCore } from "../core.ts";
import { PROGRESS_KEYS, progressViews } from "../views/progress-view.ts";
import { changeSettings } from "./change-settings.ts";
import type { Caller, HandlerResult, Handlers } from "./connection.ts";

export interface HandlerTools {
  readonly actor: { readonly type: "human"; readonly id: string };
  readonly receipt: (operation: OperationName, payload: unknown, caller: Caller) => Receipt | null;
  readonly wakeAll: () => void;
}

type Names =
  | "run.restart"
  | "checkpoint.answer"
  | "run.settings"
  | "run.changeSettings"
  | "followUp.queue"
  | "followUp.remove"
  | "run.updates"
  | "run.output";

/** Bytes of an output in one answer: base64 and the envelope fit a frame. */
const OUTPUT_BYTES = CONTENT.partBytes;

export function controlHandlers(core: ServerCore, tools: HandlerTools): Pick<Handlers, Names> {
  const { store, ports } = core.options;
  const { actor, receipt, wakeAll } = tools;
  const source = { kind: "human", sourceId: actor.id } as const;
  const changed = async (work: Promise<HandlerResult>): Promise<HandlerResult> => {
    const { outcome, result } = await work;
    wakeAll();
    return { outcome, result };
  };
  /** Names the request itself, so that it is known again whoever repeats it. */
  const requestId = (caller: Caller): string => `${caller.clientId}:${caller.idempotencyKey ?? ""}`;

  return {
    "run.restart": async (payload, caller) => {
      const { within, ...rest } = payload;
      // A turn that has ended already is not waited for.
      const reserves = within !== undefined && !core.pi.conversations.isIdle(within.session);
      const done = await changed(
        store.runs.restart({
          ...rest,
          ...(reserves ? { within } : {}),
          expectedRevision: caller.expectedRevision,
          receipt: receipt("run.restart", payload, caller),
          actor,
        }),
      );
      if (reserves) core.pi.conversations.watchReserved();
      return done;
    },
    "checkpoint.answer": (payload, caller) =>
      changed(
        store.checkpoints.answer({
          ...payload,
          expectedRevision: caller.expectedRevision,
          receipt: receipt("checkpoint.answer", payload, caller),
          actor,
        }),
      ),
    "run.settings": async ({ run }) => {
      const { runId, revision, runNo } = store.read.runs.get(run);
      return { outcome: "accepted", result: { runId, revision, scopes: store.read.settings.byRun(runNo, "human") } };
    },
    "run.changeSettings": async (payload, caller) => {
      const done = await changeSettings(core, {
        ...payload,
        expectedRevision: caller.expectedRevision,
        requestId: requestId(caller),
        receipt: receipt("run.changeSettings", payload, caller),
        actor,
      });
      const version = store.read.settings.version(done.result.scopeId);
      if (version !== null) core.scheduler.settingsChanged(done.result.runId, version);
      core.watchers.wake();
      return { outcome: done.outcome, result: done.result };
    },
    "followUp.queue": (payload, caller) =>
      changed(
        store.followUps.queue({
          ...payload,
          requestId: requestId(caller),
          expectedRevision: caller.expectedRevision,
          receipt: receipt("followUp.queue", payload, caller),
          source,
        }),
      ),
    "followUp.remove": (payload, caller) =>
      changed(
        store.followUps.remove({
          ...payload,
          expectedRevision: caller.expectedRevision,
          receipt: receipt("followUp.remove", payload, caller),
          source,
        }),
      ),
    "run.updates": async ({ after, limit, run }) => {
      const { runId, runNo } = store.read.runs.get(run);
      const page = store.read.updates.current(runNo, after, Math.min(limit + 1, PAGE.rows));
      const shown = withinFrame(page.slice(0, limit));
      const progress = progressViews(store, runNo, ports.clock.now(), PROGRESS_KEYS);
      const { updates: published } = store.read.updates.counts(runNo);
      return {
        outcome: "accepted",
        result: { runId, updates: shown, progress, published, more: page.length > shown.length },
      };
    },
    "run.output": async ({ node, offset, run }) => {
      const { runId, runNo } = store.read.runs.get(run);
      const text = store.read.runs.outputText(runNo, node);
      if (text === null) {
        const what = node === null ? "has no result" : `has no output of node "${node}"`;
        throw new HoldpointError("runState", `Run ${runId} ${what}.`);
      }
      const content = Buffer.from(text);
      const data = content.subarray(offset, offset + OUTPUT_BYTES).toString("base64");
      return { outcome: "accepted", result: { sha256: sha256Hex(content), bytes: content.length, offset, data } };
    },
  };
}

/** As many updates from the beginning of a page as fit an answer, at least one. */
function withinFrame<T extends { readonly data: unknown }>(updates: readonly T[]): T[] {
  let room: number = CONTENT.partBytes;
  const end = updates.findIndex((update, index) => {
    room -= JSON.stringify(update.data).length;
    return index > 0 && room < 0;
  });
  return end === -1 ? [...updates] : updates.slice(0, end);
}
