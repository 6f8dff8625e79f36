/** `ctx.effects.ensure`: looks before it repeats, and tells what became of it before it goes on. */
import { asHoldpointError, HoldpointError, messageOf, type ErrorRecord } from "../contracts/errors.ts";
import { RESOURCE } from "../contracts/limits.ts";
import type { JsonValue } from "../contracts/protocol/shared.ts";
import type { ManagedEffect } from "../contracts/resource/effect.ts";
import type { EffectObservation, EnsureEffect } from "./context.ts";
import { invalid } from "./definition.ts";
import { asJson } from "./json.ts";

/** What the server says about an effect. */
export interface Reserved {
  readonly effectId: string;
  readonly attempt: number;
  readonly state: "fresh" | "observe" | "settled";
  readonly record: ManagedEffect;
}

export interface Settled {
  readonly effectId: string;
  readonly attempt: number;
  readonly outcome: "applied" | "rejected" | "notApplied" | "uncertain";
  readonly externalRef?: string | undefined;
  readonly output?: JsonValue | undefined;
  readonly error?: ErrorRecord | undefined;
}

export interface EffectHost {
  reserve(effect: { readonly key: string; readonly kind: string; readonly request: JsonValue }): Promise<Reserved>;
  settle(settled: Settled): Promise<Reserved>;
}

/** Brand of errors that say for certain that nothing happened; by Symbol.for, so that two copies of this module agree. */
const REJECTED = Symbol.for("holdpoint.effect-rejected.v1");

/**
 * An error for `apply` to throw when the outside certainly refused: the effect did not happen and is not tried again under its key.
 *
 * @example
 * if (response.status === 409) throw effectRejected("The head has moved.");
 */
export function effectRejected(message: string, cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? undefined : { cause });
  Object.defineProperty(error, REJECTED, { value: true });
  return error;
}

/** Whether `ctx.effects.ensure` rejected because the outside refused, now or in an earlier pass. */
export function isEffectRejected(error: unknown): boolean {
  try {
    return error instanceof Error && REJECTED in error;
  } catch {
    return false;
  }
}

/** Ensures one effect through the server. */
export async function ensureEffect(
  host: EffectHost,
  effect: EnsureEffect,
  signal: AbortSignal,
): Promise<ManagedEffect> {
  check(effect);
  const { key, kind } = effect;
  let now = await host.reserve({ key, kind, request: asJson(effect.request, `the request of effect "${key}"`) });
  if (now.state === "observe") now = await look(host, effect, now, signal);
  if (now.state === "fresh") now = await apply(host, effect, now, signal);
  const { record } = now;
  if (record.state === "rejected") throw effectRejected(record.error ?? `Effect "${key}" was refused.`);
  return record;
}

async function look(host: EffectHost, effect: EnsureEffect, now: Reserved, signal: AbortSignal): Promise<Reserved> {
  const { attempt, effectId } = now;
  let found: EffectObservation;
  try {
    found = await effect.observe(signal);
  } catch (error) {
    throw unsettled(effect, now, `looking failed: ${messageOf(error)}`, error);
  }
  if (found?.applied === true) {
    const output = found.output === undefined ? undefined : asJson(found.output, `what effect "${effect.key}" gave`);
    return host.settle({ effectId, attempt, outcome: "applied", externalRef: found.externalRef, output });
  }
  if (found?.applied === false) return host.settle({ effectId, attempt, outcome: "notApplied" });
  if (found?.applied === "unknown") throw unsettled(effect, now, found.reason ?? "it cannot be told now");
  throw invalid(`observe of effect "${effect.key}" returns { applied: true, false or "unknown" }.`);
}

async function apply(host: EffectHost, effect: EnsureEffect, now: Reserved, signal: AbortSignal): Promise<Reserved> {
  const { attempt, effectId } = now;
  try {
    // A pass that has to stop begins nothing outside.
    signal.throwIfAborted();
  } catch (error) {
    await host.settle({ effectId, attempt, outcome: "uncertain", error: asHoldpointError(error).toRecord() });
    throw error;
  }
  let applied: { readonly externalRef?: string; readonly output?: unknown } | void;
  try {
    applied = await effect.apply(signal, { idempotencyKey: effectId, attempt });
  } catch (error) {
    const outcome = isEffectRejected(error) ? "rejected" : "uncertain";
    const record = new HoldpointError("reconcileFailed", messageOf(error)).toRecord();
    const told = await host.settle({ effectId, attempt, outcome, error: record });
    if (outcome === "rejected") return told;
    throw error;
  }
  const output = applied?.output === undefined ? undefined : asJson(applied.output, `what effect "${effect.key}" gave`);
  return host.settle({ effectId, attempt, outcome: "applied", externalRef: applied?.externalRef, output });
}

function unsettled(effect: EnsureEffect, { effectId }: Reserved, why: string, cause?: unknown): HoldpointError {
  return new HoldpointError("effectUnsettled", `Whether effect "${effect.key}" happened is not known: ${why}.`, {
    details: { effectId, key: effect.key },
    ...(cause === undefined ? {} : { cause }),
  });
}

function check({ apply: doIt, key, kind, observe }: EnsureEffect): void {
  if (typeof key !== "string" || key === "" || key.length > RESOURCE.effectKeyChars)
    throw invalid(`The key of an effect is text of 1 to ${RESOURCE.effectKeyChars} characters.`);
  if (typeof kind !== "string" || kind === "" || kind.length > 200)
    throw invalid(`The kind of effect "${key}" is text of 1 to 200 characters.`);
  if (typeof observe !== "function" || typeof doIt !== "function")
    throw invalid(`Effect "${key}" needs the functions observe and apply.`);
}
