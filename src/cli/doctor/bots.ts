/**
 * Examines every configured bot through the doctor part of its channel. Where a server receives the updates it is asked instead of
 * polled against: a second poll would take them away from it.
 */
import type { ChannelStatus } from "../../client/index.ts";
import { chatsOf, parseDestination, type Config } from "../../contracts/config.ts";
import { SETUP } from "../../contracts/limits.ts";
import { fromDoctorSchema, type FromDoctor, type ToDoctor } from "../../contracts/protocol/doctor.ts";
import { startPart } from "../channel-part.ts";
import { when } from "../times.ts";
import { ok, refused, wrong, type Check } from "./check.ts";

/** `channels`: what a running server says of them; undefined when none can be asked. */
export async function checkBots(config: Config, channels: readonly ChannelStatus[] | undefined): Promise<Check[]> {
  const checked = Object.entries(config.telegramProfiles).map(async ([profile, entry]) => {
    const channel = `telegram:${profile}`;
    const status = channels?.find((one) => one.channel === channel);
    const found = await examine({
      type: "examine",
      channel,
      tokenFile: entry.tokenFile,
      settings: { apiRoot: entry.apiRoot },
      places: placesOf(config, channel),
      mayPoll: status === undefined,
    });
    return status === undefined ? found : [...found, hearing(status)];
  });
  return (await Promise.all(checked)).flat();
}

async function examine(request: ToDoctor): Promise<Check[]> {
  const checks: Check[] = [];
  const part = startPart<FromDoctor, ToDoctor>("adapters/telegram/doctor/main.js", fromDoctorSchema);
  try {
    part.send(request);
    for (;;) {
      const frame = await part.next(SETUP.answerMs);
      if (frame.type === "done") return checks;
      const { type: _type, ...check } = frame;
      checks.push(check);
    }
  } catch (error) {
    return [...checks, refused("Bot", error)];
  } finally {
    part.close();
  }
}

/** The chats to which cards go over this channel. */
function placesOf(config: Config, channel: string): string[] {
  const destinations = Object.values(config.audiences).flatMap((audience) => chatsOf(audience.destinations));
  const mine = destinations
    .map((text) => parseDestination(text))
    .filter((destination) => destination.channel === channel);
  return [...new Set(mine.map(({ place }) => place))];
}

/** How the server's own polls go. */
function hearing({ channel, deafSince, error, lastPollAt }: ChannelStatus): Check {
  if (error !== null) return wrong("Polling", `${channel}: ${error.message}`, error.remedy);
  if (deafSince !== null)
    return wrong("Polling", `${channel} hears nothing since ${when(deafSince)}`, "See `holdpoint channel status`.");
  return ok(
    "Polling",
    lastPollAt === null ? `${channel}: no poll yet` : `${channel}: last good poll ${when(lastPollAt)}`,
  );
}
