/** What the parts of the server share: how one wakes another, and the live configuration. */
import type { Config } from "../contracts/config.ts";

/** Wake-ups inside the process; each is cheap and may be called too often, never too seldom. */
export interface Wake {
  /** A run may be waiting for a slot. */
  runs(): void;
  /** A message may be waiting for its channel, and an alert may have changed. */
  channels(): void;
  /** A message's arrival may have become unknown, or known. */
  doubts(): void;
  /** A deadline may be nearer than the armed one. */
  deadlines(): void;
  /** A sleeping run may have to go on sooner than the armed time. */
  timers(): void;
  /** A run's view may have changed. */
  views(): void;
}

/** A time in which the service did not hear its channels, in milliseconds since the epoch. */
export interface Outage {
  readonly from: number;
  readonly to: number;
}

/** The live configuration as commands need it to judge people. */
export interface Access {
  readonly people: Config["people"];
  readonly audiences: Config["audiences"];
  readonly profiles: Config["telegramProfiles"];
  readonly timeZone: string;
  readonly language?: Config["language"];
  readonly outage: Outage | null;
}

export type AccessSource = () => Access;
