/**
 * What a kind of channel has to provide to run on the common child loop. A transport performs calls on the outside
 * service and says what it knows about them; it repeats nothing, decides nothing and keeps no state of decisions.
 */
import type { Language } from "../../src/contracts/language.ts";
import type { ErrorKind, ErrorRecord } from "../../src/contracts/errors.ts";
import { HoldpointError } from "../../src/contracts/errors.ts";
import type {
  AttemptOutcome,
  ChannelLaunch,
  FromAdapter,
  Inbound,
  Perform,
  ToAdapter,
} from "../../src/contracts/protocol/channel.ts";

/** What a person who tapped is told: a code with values, in which language, and the zone for times in it. */
export interface Ack {
  readonly code: NonNullable<Extract<ToAdapter, { type: "verdict" }>["ack"]>;
  readonly timeZone: string;
  /** The server's word for it. */
  readonly verdict?: string;
  readonly language?: Language | undefined;
}

/** A pressed button, or an answer in a session: the updates whose sender waits for an acknowledgement. */
export type Tap = Extract<Inbound, { kind: "answer" | "choice" }>;

/** What is known about one call that shows, changes or removes a message. */
export interface SendResult {
  readonly outcome: AttemptOutcome;
  /** The new message of an accepted `post`, as `<place>:<message>`. */
  readonly reference?: string;
  readonly error?: ErrorRecord;
  /** The service asked to wait this long. */
  readonly retryAfterMs?: number;
  /** The place has this id now. */
  readonly movedTo?: string;
  /** The place can never be reached again. */
  readonly placeDead?: boolean;
  /** Of an edit or delete: the message is not there, or can no longer be changed. */
  readonly gone?: boolean;
  /** The marks on the text were refused, not the text. */
  readonly unparsed?: boolean;
}

export interface Transport {
  /** How people see the bot. */
  readonly account: { readonly id: string; readonly name: string };
  /** How many messages the content of this attempt takes, at least 1. Throws when it cannot be shown at all. */
  parts(perform: Perform): number;
  /**
   * Makes the one call for part `part` (1-based). It is called only after the server's permit, so it must not write a
   * byte anywhere else; a failure is a result, not an exception.
   */
  send(perform: Perform, part: number): Promise<SendResult>;
  /**
   * Waits for what people sent after update `after` (null: from where the service begins). An empty list means that
   * nothing waits at present. Throws `ChannelProblem`.
   */
  poll(after: number | null, signal: AbortSignal): Promise<readonly Inbound[]>;
  /** How much the service holds for us that was not read yet; null when it does not say. Never throws. */
  waiting?(): Promise<number | null>;
  /** Tells the person who tapped. Never throws: the answer stands, also when its toast is lost. */
  acknowledge(tap: Tap, ack: Ack): Promise<void>;
  /** What the server says to a session, where the channel is a conversation. */
  converse?(frame: Extract<ToAdapter, { type: "link.view" | "link.reply" }>): void;
  /** Lets go of connections; calls under way may be abandoned. */
  close(): void;
}

/** What a transport may use of the loop. */
export interface ChannelEvents {
  /** Aborted when the child ends. */
  readonly closing: AbortSignal;
  /** One line for the diagnostic log of the child; secrets are taken out. */
  note(text: string): void;
  /** What a session reports, where the channel is a conversation. */
  report?(frame: Extract<FromAdapter, { type: "link.open" | "link.closed" | "link.report" }>): void;
}

export type Connect = (launch: ChannelLaunch, secret: string | null, events: ChannelEvents) => Promise<Transport>;

/** Why connecting or polling failed, and how long to wait before the next try. */
export class ChannelProblem extends HoldpointError {
  /** Milliseconds; undefined leaves it to the loop's backoff. */
  readonly waitMs: number | undefined;
  /** The service does not accept the secret: read it again and connect anew. */
  readonly secretRefused: boolean;

  constructor(
    kind: ErrorKind,
    message: string,
    options: { waitMs?: number; secretRefused?: boolean; remedy?: string; details?: Record<string, unknown> } = {},
  ) {
    const { waitMs, secretRefused, ...rest } = options;
    super(kind, message, rest);
    this.waitMs = waitMs;
    this.secretRefused = secretRefused ?? false;
  }
}
