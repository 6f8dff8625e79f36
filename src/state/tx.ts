/**
 * What a command of the store works with. A command is synchronous: it reads and writes rows, appends events and returns
 * a value; it touches no memory, timer or socket. One Tx lives as long as one command.
 */
import { canonicalJson } from "../contracts/canonical.ts";
import type { RandomBytes } from "../contracts/ids.ts";
import type { ContentRef, JsonValue } from "../contracts/protocol/shared.ts";
import { type Actor, appendEvent, type Head, headOf, type HeadRow, loadHead, saveHead } from "./chain.ts";
import { acquireLease, checkLease, type Claim, type LeaseOwner, releaseLease } from "./leases.ts";
import type { Reader, RunResult, SqlValue, Statements } from "./statements.ts";
import { loadBlob, packText, packValue, referenceTo, storeBlob, unpackText, unpackValue } from "./values.ts";

export type { Actor } from "./chain.ts";
export type { Claim } from "./leases.ts";

export type ResourceType = "server" | "run" | "decision" | "channel" | "monitor" | "managed" | "alert";

export interface NewEvent {
  readonly type: string;
  readonly actor: Actor;
  readonly payload: unknown;
}

export interface Tx extends Reader {
  /** The clock port, read once per command; milliseconds since the epoch. */
  readonly now: number;
  readonly random: RandomBytes;
  run(sql: string, ...params: SqlValue[]): RunResult;
  /** A JSON value as column text: canonical, or `@sha256:…` with its blob stored when it is above `VALUE.inlineBytes`. */
  pack(value: unknown): string;
  unpack(text: string): JsonValue;
  /** `pack` of a value, or of the content that stands for it and was stored before. Throws `contentInvalid` when it was not. */
  packEither(value: unknown, ref: ContentRef | undefined): string;
  /** The same for a text that is canonical JSON already (or any other text that never begins with `@sha256:`). */
  packText(text: string): string;
  unpackText(text: string): string;
  /** Stores bytes; returns their SHA-256 in hex. */
  blob(content: Buffer): string;
  loadBlob(hex: string): Buffer;
  /** `resource_no` of (type, key), made when it does not exist. */
  resource(type: ResourceType, key: string): number;
  /** Revision + 1, at most once per command and resource; returns the revision that this command's events carry. */
  bump(resourceNo: number): number;
  /** Appends a chained event; bumps the revision if this command has not yet. */
  event(resourceNo: number, event: NewEvent): void;
  /** Takes over a head that was read with another row, unless this command has one already. */
  know(resourceNo: number, type: ResourceType, key: string, head: HeadRow): void;
  /** The present revision, with this command's bump when there was one. */
  revision(resourceNo: number): number;
  acquire(resourceNo: number, owner: LeaseOwner): { generation: number; token: string };
  /** Throws `claimLost` or renews. */
  check(claim: Claim): void;
  release(resourceNo: number): void;
}

/** The Tx of a real connection. The queue makes one per command and calls `flush` before it releases the savepoint. */
export class StoreTx implements Tx {
  readonly now: number;
  readonly random: RandomBytes;
  readonly #db: Statements;
  readonly #heads = new Map<number, Head>();

  constructor(db: Statements, now: number, random: RandomBytes) {
    this.#db = db;
    this.now = now;
    this.random = random;
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the caller names the row
  get<R>(sql: string, ...params: SqlValue[]): R | undefined {
    return this.#db.get<R>(sql, ...params);
  }

  all<R>(sql: string, ...params: SqlValue[]): R[] {
    return this.#db.all<R>(sql, ...params);
  }

  run(sql: string, ...params: SqlValue[]): RunResult {
    return this.#db.run(sql, ...params);
  }

  pack(value: unknown): string {
    return packValue(this.#db, value, this.now);
  }

  unpack(text: string): JsonValue {
    return unpackValue(this.#db, text);
  }

  packEither(value: unknown, ref: ContentRef | undefined): string {
    return ref === undefined ? this.pack(value) : referenceTo(this.#db, ref);
  }

  packText(text: string): string {
    return packText(this.#db, text, this.now);
  }

  unpackText(text: string): string {
    return unpackText(this.#db, text);
  }

  blob(content: Buffer): string {
    return storeBlob(this.#db, content, this.now);
  }

  loadBlob(hex: string): Buffer {
    return loadBlob(this.#db, hex);
  }

  resource(type: ResourceType, key: string): number {
    const found = this.get<{ no: number }>(
      "SELECT resource_no AS no FROM resources WHERE resource_type = ? AND aggregate_key = ?",
      type,
      key,
    );
    if (found !== undefined) return found.no;
    return this.run(
      "INSERT INTO resources (resource_type, aggregate_key, created_at) VALUES (?, ?, ?)",
      type,
      key,
      this.now,
    ).lastInsertRowid;
  }

  bump(resourceNo: number): number {
    return this.#bumped(resourceNo).revision;
  }

  event(resourceNo: number, event: NewEvent): void {
    appendEvent(this.#db, this.#bumped(resourceNo), event.type, event.actor, canonicalJson(event.payload), this.now);
  }

  know(resourceNo: number, type: ResourceType, key: string, head: HeadRow): void {
    if (!this.#heads.has(resourceNo)) this.#heads.set(resourceNo, headOf(resourceNo, type, key, head));
  }

  revision(resourceNo: number): number {
    return this.#head(resourceNo).revision;
  }

  acquire(resourceNo: number, owner: LeaseOwner): { generation: number; token: string } {
    return acquireLease(this, resourceNo, owner);
  }

  check(claim: Claim): void {
    checkLease(this, claim);
  }

  release(resourceNo: number): void {
    releaseLease(this, resourceNo);
  }

  /** Writes the heads of all resources that this command changed. */
  flush(): void {
    for (const head of this.#heads.values()) if (head.bumped) saveHead(this.#db, head);
  }

  #head(resourceNo: number): Head {
    let head = this.#heads.get(resourceNo);
    if (head === undefined) {
      head = loadHead(this.#db, resourceNo);
      this.#heads.set(resourceNo, head);
    }
    return head;
  }

  #bumped(resourceNo: number): Head {
    const head = this.#head(resourceNo);
    if (!head.bumped) {
      head.bumped = true;
      head.revision += 1;
    }
    return head;
  }
}
