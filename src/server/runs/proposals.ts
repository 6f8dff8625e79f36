/**
 * Proposals of a runner that are neither steps nor effects nor decisions: checkpoints, sleeps, notifications, updates, settings
 * the inputs of mounts, and agent steps of sessions. Each is one command of the store and one reply.
 */
import type { FromRunner } from "../../contracts/protocol/runner.ts";
import type { ContentRef, JsonValue } from "../../contracts/protocol/shared.ts";
import type { Launch } from "../../state/store.ts";
import type { RunSessionDeps } from "./run-session.ts";

export type Proposal = Extract<
  FromRunner,
  { type: "checkpoint" | "sleep" | "interaction" | "interaction.judged" | "notify" | "update" | "settings" | "enter" }
>;

export interface Taken {
  readonly result: JsonValue;
  /** The run waits now and the claim is gone. */
  readonly parks?: true;
  /** Content that the result names. */
  readonly offered?: ContentRef | undefined;
}

/** Stores a proposal. Rejects with the store's refusal, which the runner is told. */
export async function take(
  { access, store, wake }: Pick<RunSessionDeps, "access" | "store" | "wake">,
  claim: Launch["claim"],
  frame: Proposal,
): Promise<Taken> {
  switch (frame.type) {
    case "checkpoint": {
      const { content, contentRef, nodeId, step, summary } = frame;
      const { requestId, shortId } = await store.checkpoints.request({
        claim,
        step,
        nodeId,
        content,
        contentRef,
        summary,
      });
      return { result: { requestId, shortId }, parks: true };
    }
    case "interaction": {
      const { asked, nodeId, step } = frame;
      const reply = await store.interactions.ask({ claim, step, nodeId, asked });
      const result = { ...reply } as unknown as JsonValue;
      if (reply.state !== "parked") return { result, ...("outputRef" in reply ? { offered: reply.outputRef } : {}) };
      wake.channels();
      return { result, parks: true };
    }
    case "interaction.judged": {
      const { key, message, ok, output, outputRef, requestId, step } = frame;
      const verdict = ok
        ? ({ ok, output, outputRef } as const)
        : ({ ok: false, message: message ?? "It was refused without a reason." } as const);
      const { parked } = await store.interactions.judged({ claim, step, requestId, key, verdict });
      wake.views();
      // A refusal may have queued a reminder, or ended the step.
      if (parked) wake.channels();
      if (parked) wake.runs();
      return { result: { parked }, ...(parked ? { parks: true } : {}) };
    }
    case "sleep": {
      const { nodeId, reason, step, wake: when } = frame;
      const { wakeAt } = await store.timers.set({ claim, step, nodeId, wake: when, reason });
      wake.timers();
      return { result: { wakeAt }, parks: true };
    }
    case "notify": {
      const { audience, format, groupKey, ifConfigured, kind, message, nodeId, severity, silent, step } = frame;
      const { index } = await store.notifications.send({
        claim,
        step,
        nodeId,
        kind,
        message,
        format: format ?? null,
        audience,
        severity,
        groupKey,
        silent,
        ifConfigured,
        access: access(),
      });
      wake.channels();
      wake.views();
      return { result: { index } };
    }
    case "update": {
      const { envelope, nodeId, sourceId, step, visit } = frame;
      const receipt = await store.updates.publish({ claim, step, nodeId, visit, envelope, sourceId });
      wake.views();
      return { result: { ...receipt } };
    }
    case "settings": {
      const { initial, invocation, mount } = frame;
      return { result: { ...(await store.settings.ensure({ claim, mount, invocation, initial })) } };
    }
    case "enter":
      await store.runs.enter({ claim, transitions: frame.transitions });
      return { result: null };
  }
}
