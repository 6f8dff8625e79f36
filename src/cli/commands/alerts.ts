/** `holdpoint alerts`: what is wrong outside, who has taken it, which chats were told; and taking one or leaving it in peace for a time. */
import { wordsIn } from "../../../renderers/text/index.ts";
import type { AlertDone, AlertView } from "../../contracts/protocol/alert-operations.ts";
import { usage, type Context } from "../context.ts";
import { clean, hang } from "../layout.ts";
import { duration, when } from "../times.ts";

const words = wordsIn(undefined);
const MINUTE_MS = 60_000;
const DEFAULT_MINUTES = 60;

export async function alertList(context: Context, _args: string[], options: Record<string, unknown>): Promise<void> {
  const all = options["all"] === true;
  const list = await context.withClient((client) => client.call("alert.list", { all }));
  context.result(list);
  if (list.alerts.length === 0) {
    context.line(all ? "No alerts yet." : "Nothing is wrong. (--all shows what is over.)");
    return;
  }
  for (const [i, alert] of list.alerts.entries()) {
    if (i > 0) context.line();
    tell(context, alert, false);
  }
}

export async function alertShow(context: Context, args: string[]): Promise<void> {
  const alert = await context.withClient((client) => client.call("alert.get", { alert: args[0] ?? "" }));
  context.result(alert);
  if (!context.json) tell(context, alert, true);
}

export async function alertAck(context: Context, args: string[]): Promise<void> {
  const done = await context.withClient((client) => client.call("alert.acknowledge", { alert: args[0] ?? "" }));
  context.result(done);
  context.line(
    done.result === "before"
      ? `Alert ${done.shortId} was acknowledged already${byName(done)}, ${when(done.at)}.`
      : `Alert ${done.shortId} is acknowledged; nobody is reminded of it any more.`,
  );
}

export async function alertSnooze(context: Context, args: string[], options: Record<string, unknown>): Promise<void> {
  const given = options["minutes"];
  const minutes = given === undefined ? DEFAULT_MINUTES : Number(given);
  if (!Number.isInteger(minutes) || minutes < 1)
    throw usage(`--minutes wants a whole number above 0; it is "${String(given)}".`);
  const payload = { alert: args[0] ?? "", forMs: minutes * MINUTE_MS };
  const done = await context.withClient((client) => client.call("alert.snooze", payload));
  context.result(done);
  context.line(`Alert ${done.shortId} makes no sound until ${when(done.at)}.`);
}

function byName({ by }: AlertDone): string {
  return by === null ? "" : ` by ${clean(by)}`;
}

const STATE = { open: "", flapping: " (keeps changing)", recovered: " (over)" } as const;
const TOLD = {
  sent: "told",
  waiting: "waits to be sent",
  doubtful: "sent, but not confirmed",
  notSent: "was not told: the chat cannot be reached or is not allowed",
} as const;

function tell(context: Context, alert: AlertView, whole: boolean): void {
  const add = (text: string): void => context.lines(hang(text, context.width, "  ", "    "));
  const title = `${alert.shortId}  ${clean(words.alertTitle(alert))}${STATE[alert.state]}`;
  const [first = "", ...rest] = hang(title, context.width, "", " ".repeat(10));
  context.line(context.paint("bold", first));
  context.lines(rest);
  const until = alert.endedAt ?? Date.now();
  add(
    `${alert.severity} · since ${when(alert.since)}, ${duration(until - alert.since)}${alert.endedAt === null ? "" : `, over ${when(alert.endedAt)}`}`,
  );
  add(`key ${clean(alert.groupKey)} · audience ${clean(alert.audience)}${originOf(alert)}`);
  const clock = { timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone, reference: Date.now(), nameZone: true };
  for (const line of alert.lines) add(clean(words.plain(words.alertLine(line), clock)));
  if (alert.acknowledgedAt !== null)
    add(
      `Acknowledged${alert.acknowledgedBy === null ? "" : ` by ${clean(alert.acknowledgedBy)}`}, ${when(alert.acknowledgedAt)}`,
    );
  else if (alert.state !== "recovered") add("Nobody has acknowledged it.");
  if (alert.snoozedUntil !== null) add(`Without a sound until ${when(alert.snoozedUntil)}`);
  for (const { destination, status } of alert.told) add(`${clean(destination)}: ${TOLD[status]}`);
  if (!whole) return;
  add(`Reported ${alert.seen} times since then; it has begun ${alert.episodes} times in all.`);
  add(`Id: ${alert.alertId}`);
}

function originOf({ origin }: AlertView): string {
  if (origin === null) return "";
  return ` · ${origin.kind} ${clean(origin.name)}${origin.run === undefined ? "" : `, run ${clean(origin.run)}`}`;
}
