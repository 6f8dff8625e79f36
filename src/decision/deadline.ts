// Deadlines, by the server's clock and by no other: when an answer is too late and when the policy may decide.

import type { DecisionRequest } from "../contracts/decision/request.ts";
import { DECISION } from "../contracts/limits.ts";

/** A time in which the service was away or asleep. Present only while it still matters. */
export interface OutageWindow {
  /** The last moment at which the service was known to work. */
  readonly from: number;
  /** When it was back. */
  readonly to: number;
  /** Until when answers of that time are waited for: at most `DECISION.graceMs` after `to`, less once the channels have handed over their backlog. */
  readonly until: number;
}

/** The window after a start or wake at `to`, before anything is known about the channels' backlog. */
export function outageWindow(from: number, to: number): OutageWindow {
  return { from, to, until: to + DECISION.graceMs };
}

type Deadline = Pick<DecisionRequest, "expiresAt">;

/** `deadline <= now`: from this instant no answer wins any more, but for the grace of an outage. */
export function isPast({ expiresAt }: Deadline, now: number): boolean {
  return expiresAt !== undefined && expiresAt <= now;
}

/** The deadline fell inside the outage and the window for its late answers is open. */
export function inGrace({ expiresAt }: Deadline, now: number, outage: OutageWindow | undefined): boolean {
  if (expiresAt === undefined || outage === undefined) return false;
  return outage.from <= expiresAt && expiresAt <= outage.to && now < outage.until;
}

/** Whether the timeout policy may decide now. While it may, no answer can; while an answer can, it may not. */
export function mayTimeOut(request: Deadline, now: number, outage?: OutageWindow): boolean {
  return isPast(request, now) && !inGrace(request, now, outage);
}

/** What the timeout policy decides for a request. */
export function timeoutOutcome(
  request: Pick<DecisionRequest, "defaultResponse">,
):
  | { readonly provenance: "timeout_policy"; readonly choice: string; readonly input?: string }
  | { readonly provenance: "expired_no_default"; readonly choice: null } {
  const chosen = request.defaultResponse;
  if (chosen === undefined) return { provenance: "expired_no_default", choice: null };
  const { choice, input } = chosen;
  return input === undefined
    ? { provenance: "timeout_policy", choice }
    : { provenance: "timeout_policy", choice, input };
}
