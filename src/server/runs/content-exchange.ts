/**
 * Values too large for a frame, on the server's side of one conversation: puts together what the runner sends in parts, stores
 * it under its digest, and reads out what the server has named.
 */
import { canonicalJson } from "../../contracts/canonical.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { sha256Hex } from "../../contracts/ids.ts";
import type { FromRunner, StepEntry, ToRunner } from "../../contracts/protocol/runner.ts";
import type { ContentRef, JsonValue } from "../../contracts/protocol/shared.ts";
import type { Launch, Store } from "../../state/store.ts";

type Put = Extract<FromRunner, { type: "content.put" }>;
type Read = Extract<FromRunner, { type: "content.read" }>;

/** Parsed values that are kept for the step that names them; others are read back from the database. */
const KEPT_VALUES = 2;

interface Upload {
  readonly sha256: string;
  readonly bytes: number;
  readonly parts: Buffer[];
  received: number;
}

export class ContentExchange {
  readonly #store: Store;
  readonly #claim: Launch["claim"];
  /** What the runner may read: only what it was told of in this conversation. */
  readonly #offered = new Set<string>();
  readonly #values = new Map<string, JsonValue>();
  #upload: Upload | undefined;
  /** The last complete content; kept so that a write that failed can be repeated. */
  #complete: { readonly sha256: string; readonly content: Buffer } | undefined;
  /** What was put last is not on disk (yet): steps that name it are not refused for ever. */
  unwritten = false;
  /** Settles when everything that was put so far is on disk. */
  #stored: Promise<void> = Promise.resolve();

  constructor(store: Store, claim: Launch["claim"]) {
    this.#store = store;
    this.#claim = claim;
  }

  /**
   * Takes a part; with the last one the value is checked and stored. May be called again with a last part whose storing
   * failed. Throws `contentInvalid` for a gap, a wrong length or digest, and for what is not canonical JSON.
   */
  async put(frame: Put): Promise<void> {
    if (this.#complete?.sha256 !== frame.sha256) {
      const content = this.#assemble(frame);
      if (content === undefined) return;
      this.#values.set(frame.sha256, parse(content));
      for (const old of this.#values.keys()) if (this.#values.size > KEPT_VALUES) this.#values.delete(old);
      this.#complete = { sha256: frame.sha256, content };
    }
    const { content } = this.#complete as { content: Buffer };
    this.unwritten = true;
    const stored = this.#store.content.put({ claim: this.#claim, content }).then(() => void (this.unwritten = false));
    this.#stored = stored.catch(() => undefined);
    await stored;
  }

  /** Resolves when the last attempt to store is over. */
  settled(): Promise<void> {
    return this.#stored;
  }

  /** Entries with their large outputs, as far as these are still known here. */
  withValues(entries: readonly StepEntry[]): StepEntry[] {
    return entries.map((entry) => {
      const value = entry.outputRef === undefined ? undefined : this.#values.get(entry.outputRef.sha256);
      return value === undefined ? entry : { ...entry, output: value };
    });
  }

  /** Lets the runner read a content. */
  offer(ref: ContentRef | undefined): void {
    if (ref !== undefined) this.#offered.add(ref.sha256);
  }

  /** One part of an offered content. Throws `contentInvalid`. */
  read({ messageId, offset, sha256 }: Read): Extract<ToRunner, { type: "content.part" }> {
    if (!this.#offered.has(sha256))
      throw new HoldpointError("contentInvalid", `The content with SHA-256 ${sha256} was not offered to this runner.`);
    const data = this.#store.read.content.part(sha256, offset).toString("base64");
    return { type: "content.part", messageId, offset, data };
  }

  #assemble({ bytes, data, offset, sha256 }: Put): Buffer | undefined {
    const begun = this.#upload;
    const upload = offset === 0 ? { sha256, bytes, parts: [], received: 0 } : begun;
    if (upload === undefined || upload.sha256 !== sha256 || upload.bytes !== bytes || upload.received !== offset) {
      const expected = begun === undefined ? "nothing" : `offset ${begun.received} of ${begun.sha256}`;
      throw new HoldpointError(
        "contentInvalid",
        `A part at offset ${offset} of ${sha256} came; expected was ${expected}.`,
      );
    }
    const part = Buffer.from(data, "base64");
    upload.parts.push(part);
    upload.received += part.length;
    this.#upload = upload;
    if (upload.received < bytes && part.length > 0) return undefined;
    this.#upload = undefined;
    const content = Buffer.concat(upload.parts);
    if (content.length !== bytes || sha256Hex(content) !== sha256) {
      throw new HoldpointError(
        "contentInvalid",
        `${content.length} bytes came for ${sha256} (${bytes} bytes); they do not have this digest.`,
      );
    }
    return content;
  }
}

/** What is stored under a digest is what any other writer of the same value would store. */
function parse(content: Buffer): JsonValue {
  const text = content.toString("utf8");
  try {
    const value = JSON.parse(text) as JsonValue;
    if (canonicalJson(value) === text) return value;
  } catch {
    // Neither JSON nor canonical: the same refusal.
  }
  throw new HoldpointError("contentInvalid", `${content.length} bytes of content are not canonical JSON.`);
}
