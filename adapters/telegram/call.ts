/**
 * One call to the Bot API, and what is known about it afterwards. This is the only place that says whether a request
 * was accepted, rejected, not sent, or may have taken effect; it goes by how far the request came and by the answer's
 * body, never by the text or code of a network error (the same code can come from connecting and from reading).
 *
 * grammY builds the request and guards its duration. Its `fetch` is replaced by one that records the phase: grammY's
 * errors do not tell "never connected" from "maybe delivered", and lose the HTTP status and unusual bodies.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import * as http from "node:http";
import * as https from "node:https";
import type { Socket } from "node:net";
import { Api } from "grammy";
import { cutToUnits } from "../../src/contracts/decision/graphemes.ts";
import { TELEGRAM } from "../../src/contracts/limits.ts";
import { redactor, type Redact } from "../channel/secret.ts";

/** The parameters that Telegram adds to some refusals. */
interface RefusalParameters {
  readonly retryAfterS?: number;
  readonly migrateToChatId?: string;
}

/**
 * - `accepted`: the body is JSON, `ok` is true, and the result is what the method promises.
 * - `rejected`: the body is JSON, `ok` is false, `code` is an integer from 400 to 499.
 * - `notSent`: no connection was ever ready for the request, or it was aborted before.
 * - `ambiguous`: everything else. It may have taken effect.
 * Texts are free of the token.
 */
export type CallResult<T> =
  | { readonly outcome: "accepted"; readonly result: T }
  | {
      readonly outcome: "rejected";
      readonly code: number;
      readonly description: string;
      readonly parameters: RefusalParameters;
    }
  | { readonly outcome: "notSent"; readonly reason: string }
  | { readonly outcome: "ambiguous"; readonly reason: string };

/** Checks a result and takes what is needed of it; undefined means that it is not what the method promises. */
export type Promised<T> = (result: unknown) => T | undefined;

/** How far one request came. */
interface Progress {
  /** `connected` is set no later than the first byte is written. */
  phase: "none" | "connecting" | "connected";
  status: number | null;
  /** The service's clock at the answer, ms, with the precision of a second; null when it does not say. */
  serviceAt: number | null;
  /** The parsed body; undefined while there is none or it is not JSON. */
  body: unknown;
}

const progressOf = new AsyncLocalStorage<Progress>();

export interface ClientOptions {
  readonly apiRoot: string;
  readonly timeoutMs: number;
  /**
   * Whether connections are used again. A request on a used connection can meet the service's close of it: then nobody
   * can say whether it arrived. Calls that must not be repeated get a connection of their own instead.
   */
  readonly reuse: boolean;
}

/** A client of one bot, with connections of its own. */
export class BotClient {
  readonly #api: Api;
  readonly #agent: http.Agent;
  readonly #redact: Redact;
  #serviceTime: { readonly at: number; readonly seenAt: number } | null = null;

  constructor(token: string, { apiRoot, reuse, timeoutMs }: ClientOptions) {
    const secure = apiRoot.startsWith("https:");
    const options = reuse ? { keepAlive: true, timeout: TELEGRAM.idleSocketMs } : { keepAlive: false };
    this.#agent = secure ? new https.Agent(options) : new http.Agent(options);
    this.#redact = redactor(token);
    this.#api = new Api(token, {
      apiRoot: apiRoot.replace(/\/+$/, ""),
      timeoutSeconds: timeoutMs / 1_000,
      // A redirect would carry the token to another host, and repeat the request as a GET.
      baseFetchConfig: { redirect: "error" },
      fetch: recordingFetch(secure ? https.request : http.request, this.#agent),
    });
  }

  /** Calls `method` once. Never throws. */
  async call<T>(
    method: string,
    payload: Record<string, unknown>,
    promised: Promised<T>,
    signal?: AbortSignal,
  ): Promise<CallResult<T>> {
    const progress: Progress = { phase: "none", status: null, serviceAt: null, body: undefined };
    const raw = this.#api.raw as unknown as Record<string, (payload: object, signal?: AbortSignal) => Promise<unknown>>;
    // Methods without parameters take the signal first.
    const send = (): Promise<unknown> =>
      method === "getMe" || method === "getWebhookInfo"
        ? (raw[method] as unknown as (signal?: AbortSignal) => Promise<unknown>)(signal)
        : (raw[method] as (payload: object, signal?: AbortSignal) => Promise<unknown>)(payload, signal);
    let failure: unknown = null;
    try {
      await progressOf.run(progress, send);
    } catch (error) {
      failure = error;
    }
    if (progress.serviceAt !== null) this.#serviceTime = { at: progress.serviceAt, seenAt: Date.now() };
    return this.#classify(method, progress, failure, promised);
  }

  /** What time the service said it was at its last answer, and what time it was here; ms. */
  get serviceTime(): { readonly at: number; readonly seenAt: number } | null {
    return this.#serviceTime;
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Telegram's words: without the token, without broken characters, and not endless. */
  #described(text: unknown): string {
    if (typeof text !== "string") return "no description";
    return cutToUnits(this.#redact(text).replaceAll(/\p{Surrogate}/gu, "\uFFFD"), 500);
  }

  #classify<T>(method: string, progress: Progress, failure: unknown, promised: Promised<T>): CallResult<T> {
    const { phase, status, body } = progress;
    if (isObject(body)) {
      if (body["ok"] === true) {
        const result = promised(body["result"]);
        if (result !== undefined) return { outcome: "accepted", result };
        return { outcome: "ambiguous", reason: `${method}: the answer says ok but lacks what the method promises` };
      }
      const code = body["error_code"];
      if (body["ok"] === false && typeof code === "number" && Number.isInteger(code)) {
        const description = this.#described(body["description"]);
        if (code >= 400 && code <= 499) {
          return { outcome: "rejected", code, description, parameters: parametersOf(body["parameters"]) };
        }
        return { outcome: "ambiguous", reason: `${method}: the service failed (${code}: ${description})` };
      }
    }
    const reason = this.#redact(`${method}: ${reasonOf(failure, status, body)}`);
    return phase === "connected" ? { outcome: "ambiguous", reason } : { outcome: "notSent", reason };
  }
}

type FetchInit = { method?: string; headers?: Record<string, string>; body?: unknown; signal?: AbortSignal };

/** A `fetch` of the kind grammY needs: JSON or a form with a file to the service, JSON back, no redirects, and a note of how far the request came. */
function recordingFetch(request: typeof https.request, agent: http.Agent): typeof fetch {
  const perform = (url: string | URL, init: FetchInit, body: Buffer): Promise<unknown> =>
    new Promise((resolve, reject) => {
      const progress = progressOf.getStore() ?? { phase: "none", status: null, serviceAt: null, body: undefined };
      const { signal } = init;
      if (signal?.aborted) return reject(new Error("stopped before it was sent"));
      const headers = { ...init.headers, "content-length": body.length };
      const outgoing = request(url, { method: init.method ?? "POST", headers, agent });
      const abort = (): void => void outgoing.destroy(new Error("stopped while it was under way"));
      signal?.addEventListener("abort", abort);
      const settle = (act: () => void): void => {
        signal?.removeEventListener("abort", abort);
        act();
      };
      progress.phase = "connecting";
      outgoing.on("socket", (socket) => watchSocket(socket, outgoing, progress));
      outgoing.on("error", (error) => settle(() => reject(error)));
      outgoing.on("response", (response) => {
        progress.status = response.statusCode ?? null;
        const date = Date.parse(response.headers.date ?? "");
        progress.serviceAt = Number.isNaN(date) ? null : date;
        const failed = (error: unknown): void => {
          outgoing.destroy();
          settle(() => reject(error));
        };
        const read = (value: unknown): void => {
          progress.body = value;
          settle(() => resolve({ status: progress.status, json: async () => value }));
        };
        readJson(response).then(read, failed);
      });
      outgoing.end(body);
    });
  return (async (url: string | URL, init: FetchInit) =>
    perform(url, init, await bytesOf(init.body))) as unknown as typeof fetch;
}

/** The whole body before a connection is made: JSON, or a form with a file. */
async function bytesOf(body: unknown): Promise<Buffer> {
  if (typeof body === "string") return Buffer.from(body);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Notes the moment from which bytes of the request can be on the wire: with TLS after its handshake. */
function watchSocket(socket: Socket, outgoing: http.ClientRequest, progress: Progress): void {
  const connected = (): void => {
    progress.phase = "connected";
  };
  if (outgoing.reusedSocket) connected();
  else if ("encrypted" in socket) socket.once("secureConnect", connected);
  else if (socket.connecting) socket.once("connect", connected);
  else connected();
}

/** The body. Fails at once when the connection ends in the middle, or the body is larger than any honest one. */
async function readJson(response: http.IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > TELEGRAM.responseBytes) throw new Error(`the answer is larger than ${TELEGRAM.responseBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    throw new Error("the answer is not JSON");
  }
}

function parametersOf(value: unknown): RefusalParameters {
  if (!isObject(value)) return {};
  const retry = value["retry_after"];
  const migrated = value["migrate_to_chat_id"];
  return {
    ...(typeof retry === "number" && retry >= 0 ? { retryAfterS: retry } : {}),
    ...(typeof migrated === "number" || typeof migrated === "string" ? { migrateToChatId: String(migrated) } : {}),
  };
}

/** In plain words, for the operator. */
function reasonOf(failure: unknown, status: number | null, body: unknown): string {
  if (status !== null && body !== undefined) return `HTTP ${status} with a body that is no Bot API answer`;
  const inner = failure instanceof Error && "error" in failure ? failure.error : failure;
  const text = innermost(inner);
  return status === null ? text : `HTTP ${status}; ${text}`;
}

/** Connecting to several addresses fails with one error for all of them. */
function innermost(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return error.errors.map(innermost).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** True for JSON objects. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
