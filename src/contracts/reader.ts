/**
 * Zone and language of whoever reads a message: of the person alone with us, else of the audience that it is for, else of the
 * configuration. By the live configuration, when an attempt is given out.
 */
import type { Config } from "./config.ts";
import type { Language } from "./language.ts";

/** How somebody is written to. */
export interface Reader {
  /** IANA zone for times that a client cannot show in its own. */
  readonly timeZone: string;
  /** Left out: English. */
  readonly language?: Language | undefined;
}

/** What of the configuration says how people are written to. */
type Written = Pick<Config, "people" | "audiences" | "timeZone" | "language">;

export interface ReadAt {
  readonly channelId: string;
  /** The chat; on Telegram the one with a person alone has the person's id. */
  readonly place: string;
  readonly topic?: string | null;
  /** The account of the only one it is for: who tapped. */
  readonly account?: string | undefined;
  /** The audiences that it is for, where that is known; read only when one of them could matter. */
  readonly audiences?: () => readonly string[];
}

type Given = Pick<Config["audiences"][string], "timeZone" | "language">;

/** How the reader of a message in this place is written to. */
export function readerOf(config: Written, at: ReadAt): Reader {
  const chain: (Given | undefined)[] = [personOf(config, at), audienceOf(config, at), config];
  const timeZone = chain.find((given) => given?.timeZone !== undefined)?.timeZone ?? config.timeZone;
  const language = chain.find((given) => given?.language !== undefined)?.language;
  return language === undefined ? { timeZone } : { timeZone, language };
}

function personOf({ people }: Written, { account, channelId, place }: ReadAt): Given | undefined {
  if (!channelId.startsWith("telegram:")) return undefined;
  return Object.values(people).find(({ telegram }) => telegram.includes(account ?? place));
}

type Audiences = Config["audiences"];

/** The audiences of a configuration that say something of how they are written to, found once for each that is read. */
const saying = new WeakMap<Audiences, [string, Audiences[string]][]>();

function givenBy(audiences: Audiences): [string, Audiences[string]][] {
  let given = saying.get(audiences);
  if (given === undefined) {
    given = Object.entries(audiences).filter(([, one]) => one.timeZone !== undefined || one.language !== undefined);
    saying.set(audiences, given);
  }
  return given;
}

/** Of the audiences that the message is for, or of all where that is not known, the first that is sent to this place. */
function audienceOf({ audiences }: Written, at: ReadAt): Given | undefined {
  const given = givenBy(audiences);
  if (given.length === 0) return undefined;
  const named = at.audiences?.() ?? [];
  const place = `${at.channelId}/${at.place}`;
  const exact = at.topic == null ? place : `${place}/${at.topic}`;
  const possible = given.filter(([name]) => named.length === 0 || named.includes(name)).map(([, one]) => one);
  const here = possible.find(({ destinations }) => destinations.some((one) => one === exact || one === place));
  // What an audience is asked may also go to a chat that is not on its list, as after a move.
  return here ?? (named.length === 0 ? undefined : possible[0]);
}
