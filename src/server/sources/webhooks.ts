/**
 * What comes in over HTTP: signed hints for managed resources, and the reports of jobs that heartbeats wait for. Whoever is refused
 * learns nothing but that; the reason is in the log. Nothing here says what is to be done: a request wakes, and no more.
 */
import { createHmac } from "node:crypto";
import { sha256Hex } from "../../contracts/ids.ts";
import { HoldpointError, messageOf } from "../../contracts/errors.ts";
import { cutToUnits } from "../../contracts/decision/graphemes.ts";
import { MONITOR, SOURCE } from "../../contracts/limits.ts";
import { keyOf, type WebhookSource } from "../../contracts/source.ts";
import { readSecret } from "../../contracts/token-file.ts";
import type { Store } from "../../state/store.ts";
import type { Clock, HookRequest, Log } from "../ports.ts";
import { RateLimit } from "./rate.ts";
import { sameText, verify } from "./signature.ts";

export interface WebhookDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The secret of this home that heartbeat addresses are made from. */
  readonly homeKey: () => Buffer;
  readonly sources: () => ReadonlyMap<string, WebhookSource>;
  /** Takes a report; throws for a monitor that takes none. */
  readonly beat: (monitor: string, ok: boolean, detail: string | null) => Promise<void>;
  /** Something was queued. */
  readonly woken: () => void;
}

/** Of one that is not let in. */
const REFUSED = 400;
const TAKEN = 202;
const TOO_OFTEN = 429;
const LATER = 503;

export class Webhooks {
  readonly #deps: WebhookDeps;
  readonly #rate: RateLimit;

  constructor(deps: WebhookDeps) {
    this.#deps = deps;
    this.#rate = new RateLimit(SOURCE.perMinute, () => deps.clock.now());
  }

  /** The status that a request is answered with; never a body. */
  async take(request: HookRequest): Promise<number> {
    const [, kind = "", given = "", ...rest] = request.path.split("/");
    const name = safeDecode(given);
    if (request.method !== "POST" || request.body === null || name === null)
      return this.#refuse("", request.body === null ? "it is too large" : "it is no POST to a source");
    try {
      if (kind === "heartbeat") return await this.#heartbeat(name, rest, request.body);
      if (kind === "hook" && rest.length === 0) return await this.#hook(name, { ...request, body: request.body });
      return this.#refuse("", "there is no such address");
    } catch (error) {
      // Not stored: the sender may try again.
      this.#deps.log.error({ source: name, error: messageOf(error) }, "a webhook could not be taken");
      return LATER;
    }
  }

  /** The secret part of a heartbeat's address. */
  token(monitor: string): string {
    return createHmac("sha256", this.#deps.homeKey()).update(`heartbeat\0${monitor}`).digest("hex").slice(0, 40);
  }

  async #heartbeat(monitor: string, [token = "", verb, ...more]: readonly string[], body: Buffer): Promise<number> {
    if (more.length > 0 || (verb !== undefined && verb !== "fail") || !sameText(token, this.token(monitor)))
      return this.#refuse("", "the address of a heartbeat does not fit");
    if (!this.#rate.take(`heartbeat/${monitor}`)) return TOO_OFTEN;
    const said = cutToUnits(body.toString("utf8").trim(), MONITOR.detailChars);
    try {
      await this.#deps.beat(monitor, verb === undefined, said === "" ? null : said);
    } catch (error) {
      if (!(error instanceof HoldpointError) || !["monitorUnknown", "monitorState"].includes(error.kind)) throw error;
      return this.#refuse(monitor, error.message);
    }
    return TAKEN;
  }

  async #hook(name: string, request: HookRequest & { readonly body: Buffer }): Promise<number> {
    const { clock, log, sources, store, woken } = this.#deps;
    const source = sources().get(name);
    if (source === undefined) return this.#refuse("", "there is no such source");
    const verdict = verify(source.signature, readSecret(source.secretFile), request, clock.now());
    if ("refused" in verdict) return this.#refuse(name, verdict.refused);
    // After the signature: nobody else can use up the turns of a sender.
    if (!this.#rate.take(`hook/${name}`)) return TOO_OFTEN;
    const key = keyOf(source.key, parsed(request.body));
    if (key === undefined) return this.#refuse(name, "no key can be made of it");
    const outcome = await store.sources.receive({
      source: name,
      receiptId: verdict.receiptId,
      bodyDigest: sha256Hex(request.body),
      wakes: { projectPath: source.project, manager: source.resourceManager, key },
    });
    log.info({ source: name, outcome }, "a webhook was taken");
    if (outcome === "woken") woken();
    return TAKEN;
  }

  #refuse(source: string, why: string): number {
    // Those who know no secret share one measure, in the log as well.
    if (this.#rate.take(source === "" ? "refused" : `refused/${source}`))
      this.#deps.log.warn({ source: source === "" ? undefined : source, why }, "a webhook was refused");
    return REFUSED;
  }
}

function parsed(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString("utf8"));
  } catch {
    return undefined;
  }
}

function safeDecode(text: string): string | null {
  try {
    const decoded = decodeURIComponent(text);
    return decoded.length <= SOURCE.keyChars ? decoded : null;
  } catch {
    return null;
  }
}
