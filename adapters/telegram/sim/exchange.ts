/**
 * One request and its answer: runs the method, and lets a fault spoil what the caller gets of it. The ledger is written
 * by the method alone, so "before" and "after" mean exactly: before or after the method ran.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { FaultMoment, FaultSpec, LedgerRequest } from "./types.ts";
import { ApiError } from "./api-error.ts";
import type { Hit } from "./faults.ts";

export interface Answer {
  status: number;
  /** The JSON value, or a page. */
  body: unknown;
  html?: boolean;
  headers?: Record<string, string>;
}

export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Aborted when the caller's connection ends before the answer. */
  caller: AbortSignal;
  /** Runs the method once; refusals are thrown as ApiError. */
  run: () => Promise<unknown>;
  /** Where a redirect leads. */
  elsewhere: () => Promise<string>;
  /** Ends in 409 by the poll rules. */
  conflict: () => Promise<never>;
}

type Verdict = NonNullable<LedgerRequest["verdict"]>;
export type Outcome = Omit<Verdict, "at">;

/** Answers the request; the result says what went over the wire. */
export async function answer(exchange: Exchange, hit: Hit | undefined): Promise<Outcome> {
  if (!hit) return send(exchange, await outcomeOf(exchange.run), true);
  const { spec } = hit;
  switch (spec.kind) {
    case "tooMany": {
      const headers = { "Retry-After": String(spec.retryAfter) };
      if (spec.html) return send(exchange, { ...page(429, "Too Many Requests"), headers }, false);
      const refusal = new ApiError(429, `Too Many Requests: retry after ${spec.retryAfter}`, {
        retry_after: spec.retryAfter,
      });
      return send(exchange, refused(refusal), false);
    }
    case "conflict":
      return send(exchange, await outcomeOf(exchange.conflict), false);
    case "reject":
      return send(exchange, refused(new ApiError(spec.status, spec.description, spec.parameters)), false);
    case "redirect":
      return send(exchange, { ...page(302, "Found"), headers: { Location: await exchange.elsewhere() } }, false);
    case "serverError": {
      const executed = await runIf(exchange, spec.when);
      const failure =
        spec.body === "html"
          ? page(spec.status, spec.status === 504 ? "Gateway Time-out" : "Bad Gateway")
          : refused(new ApiError(spec.status, "Internal Server Error: restart"));
      return send(exchange, failure, executed);
    }
    case "malformed":
      return malformed(exchange, spec.body, spec.when ?? "after");
    case "drop":
      return drop(exchange, spec.how, spec.when);
    case "slow":
      return slow(exchange, hit, spec);
    case "hang": {
      const executed = await runIf(exchange, spec.when ?? "before");
      await waitFor(undefined, AbortSignal.any([hit.removed, exchange.caller]));
      exchange.request.socket.destroy();
      return { status: 0, ok: false, wire: "hung", executed };
    }
  }
}

async function slow(exchange: Exchange, hit: Hit, spec: FaultSpec & { kind: "slow" }): Promise<Outcome> {
  if (spec.what === "ledger") {
    // The caller may be gone by then; the message appears all the same.
    await waitFor(spec.ms, hit.removed);
    return send(exchange, await outcomeOf(exchange.run), true);
  }
  const late = await outcomeOf(exchange.run);
  await waitFor(spec.ms, AbortSignal.any([hit.removed, exchange.caller]));
  return send(exchange, late, true);
}

async function malformed(
  exchange: Exchange,
  body: (FaultSpec & { kind: "malformed" })["body"],
  when: FaultMoment,
): Promise<Outcome> {
  if (body === "extra") return send(exchange, decorate(await outcomeOf(exchange.run)), true);
  const executed = await runIf(exchange, when);
  const bodies = { empty: {}, null: null, okOnly: { ok: true }, noOk: { message: "upstream said something else" } };
  return send(exchange, body === "html" ? page(200, "Welcome") : { status: 200, body: bodies[body] }, executed);
}

async function drop(exchange: Exchange, how: "rst" | "fin" | "half", when: FaultMoment): Promise<Outcome> {
  const { request, response } = exchange;
  const lost = when === "after" ? await outcomeOf(exchange.run) : { status: 200, body: { ok: true, result: true } };
  const outcome: Outcome = { status: 0, ok: false, wire: how, executed: when === "after" };
  if (how === "rst") request.socket.resetAndDestroy();
  else if (how === "fin") request.socket.destroy();
  else {
    const whole = Buffer.from(JSON.stringify(lost.body));
    response.writeHead(lost.status, { "Content-Type": "application/json", "Content-Length": whole.length });
    await new Promise((resolve) => response.write(whole.subarray(0, whole.length >> 1), resolve));
    request.socket.destroy();
    outcome.status = lost.status;
  }
  return outcome;
}

async function runIf(exchange: Exchange, when: FaultMoment): Promise<boolean> {
  if (when === "before") return false;
  await outcomeOf(exchange.run);
  return true;
}

async function outcomeOf(run: () => Promise<unknown>): Promise<Answer> {
  try {
    return { status: 200, body: { ok: true, result: await run() } };
  } catch (error) {
    if (error instanceof ApiError) return refused(error);
    throw error;
  }
}

/** The Bot API's refusal. */
export function refused({ code, message, parameters }: ApiError): Answer {
  const retryAfter = parameters?.["retry_after"];
  return {
    status: code,
    body: { ok: false, error_code: code, description: message, ...(parameters ? { parameters } : {}) },
    ...(retryAfter === undefined ? {} : { headers: { "Retry-After": String(retryAfter) } }),
  };
}

/** What a proxy in front of the server would say. */
function page(status: number, title: string): Answer {
  const body = `<html>\r\n<head><title>${status} ${title}</title></head>\r\n<body><center><h1>${status} ${title}</h1></center></body>\r\n</html>\r\n`;
  return { status, body, html: true };
}

/** The same answer from a server that is newer than its client. */
function decorate(answer: Answer): Answer {
  const body = answer.body as Record<string, unknown>;
  const news = { field_of_a_newer_version: { nested: [1, null, "text"] } };
  const add = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(add);
    return typeof value === "object" && value !== null ? { ...value, ...news } : value;
  };
  const decorated = { ...body, ...news, ...("result" in body ? { result: add(body["result"]) } : {}) };
  return { ...answer, body: decorated };
}

export async function send(exchange: Exchange, answer: Answer, executed: boolean): Promise<Outcome> {
  const { response } = exchange;
  const payload = Buffer.from(answer.html ? String(answer.body) : JSON.stringify(answer.body));
  const fields = (answer.html ? {} : answer.body) as Record<string, unknown> | null;
  const outcome: Outcome = { status: answer.status, ok: fields?.["ok"] === true, wire: "answered", executed };
  if (typeof fields?.["description"] === "string") outcome.description = fields["description"];
  if (exchange.caller.aborted || response.destroyed) return { ...outcome, status: 0, wire: "client gone" };
  response.writeHead(answer.status, {
    "Content-Type": answer.html ? "text/html" : "application/json",
    "Content-Length": payload.length,
    ...answer.headers,
  });
  response.end(payload);
  return outcome;
}

/** Real time; without `ms` until the signal. Resolves either way. */
async function waitFor(ms: number | undefined, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  if (ms === undefined) {
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    return;
  }
  await delay(ms, undefined, { signal }).catch(() => {});
}
