/**
 * The hidden id of a message of ours: it stands in a custom message's details or a custom entry's data, is never sent to the
 * model, and is the only evidence that a message is in a session. Read without a schema, because renderers need it at once.
 */
import type { SessionDetails } from "../../../src/contracts/pi/session-message.ts";
import type { PiEntry, PiMessage, PiSession } from "./pi-api.ts";

const SCHEMA: SessionDetails["schema"] = "holdpoint.session-message.v1";

/** What of ours stands in details or data; undefined for anything else. Deeper fields are as the file has them. */
export function detailsOf(value: unknown): SessionDetails | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { message, messageId, schema } = value as Partial<Record<keyof SessionDetails, unknown>>;
  const whole = schema === SCHEMA && typeof messageId === "string" && typeof message === "object" && message !== null;
  return whole ? (value as SessionDetails) : undefined;
}

export function detailsOfEntry(entry: PiEntry): SessionDetails | undefined {
  if (entry.type === "custom_message") return detailsOf(entry.details);
  return entry.type === "custom" ? detailsOf(entry.data) : undefined;
}

export function messageIdOf(message: PiMessage): string | undefined {
  return detailsOf(message.details)?.messageId;
}

export interface Seen {
  readonly messageId: string;
  readonly entryId: string;
  readonly onBranch: boolean;
}

/** Every message of ours on the session's tree, the newest last, at most `atMost`; one that is on the branch counts as that. */
export function seenIn(session: PiSession, atMost: number): Seen[] {
  const branch = new Set(session.getBranch().map(({ id }) => id));
  const seen = new Map<string, Seen>();
  for (const entry of session.getEntries()) {
    const messageId = detailsOfEntry(entry)?.messageId;
    if (messageId === undefined) continue;
    const onBranch = branch.has(entry.id);
    if (seen.get(messageId)?.onBranch === true && !onBranch) continue;
    seen.delete(messageId);
    seen.set(messageId, { messageId, entryId: entry.id, onBranch });
  }
  return [...seen.values()].slice(-atMost);
}

/** The entry that holds a message of ours; undefined when it is nowhere on the tree. */
export function entryWith(session: PiSession, messageId: string): string | undefined {
  return session.getEntries().findLast((entry) => detailsOfEntry(entry)?.messageId === messageId)?.id;
}
