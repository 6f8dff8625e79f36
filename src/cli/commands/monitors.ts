/**
 * `holdpoint monitors [show|check]`: what is watched, how it stands, and for a heartbeat the one line that its job runs.
 */
import { findingPhrase, plain } from "../../../renderers/text/en.ts";
import { many } from "../../../renderers/text/en/words.ts";
import type { HoldpointClient, OperationResult } from "../../client/index.ts";
import type { Finding } from "../../contracts/monitor/finding.ts";
import type { Context, Paint } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { clean, hang, table } from "../layout.ts";
import { dayTime, duration, when } from "../times.ts";

type List = OperationResult<"monitor.list">;
type Summary = List["monitors"][number];
type Detail = OperationResult<"monitor.get">;

const COLOUR: Readonly<Record<Summary["standing"], Paint>> = {
  new: "dim",
  up: "green",
  down: "red",
  unstable: "yellow",
};

export async function monitors(context: Context): Promise<void> {
  const list = await context.withClient(everything);
  context.result(list);
  if (list.monitors.length + list.invalid.length === 0) {
    context.line("Nothing is watched yet. docs/monitors.md shows how to begin.");
    return;
  }
  const columns = [
    { title: "monitor" },
    { title: "stands" },
    { title: "last look", flexible: true },
    { title: "next" },
  ];
  const rows = list.monitors.map((monitor) => [
    clean(monitor.name),
    standingWord(monitor),
    lastLook(monitor),
    dayTime(monitor.nextAt, Date.now()),
  ]);
  if (rows.length > 0) context.lines(table(columns, rows, context.width));
  for (const { name, problems } of list.invalid)
    context.lines(hang(clean(problems.join("; ")), context.width, `${clean(name)} is not watched: `, "  "));
}

export async function monitorShow(context: Context, args: string[]): Promise<void> {
  const monitor = args[0] ?? "";
  const detail = await context.withClient((client) => client.call("monitor.get", { monitor }));
  context.result(detail);
  whole(context, detail);
}

/** The exit code says how it stands. */
export async function monitorCheck(context: Context, args: string[]): Promise<number> {
  const monitor = args[0] ?? "";
  const result = await context.withClient((client) => client.call("monitor.check", { monitor }));
  context.result(result);
  const word = context.paint(result.ok ? "green" : "red", result.ok ? "fine" : "not fine");
  context.line(`${clean(monitor)}: ${word}, ${findingText(result.finding)} (${duration(result.durationMs)})`);
  return result.ok ? 0 : EXIT.notFine.code;
}

async function everything(client: HoldpointClient): Promise<List> {
  let page = await client.call("monitor.list", { after: "" });
  const { invalid } = page;
  const all = [...page.monitors];
  while (page.more) {
    page = await client.call("monitor.list", { after: all.at(-1)?.name ?? "" });
    if (page.monitors.length === 0) break;
    all.push(...page.monitors);
  }
  return { monitors: all, more: false, invalid };
}

function whole(context: Context, detail: Detail): void {
  const add = (text: string): void => context.lines(hang(text, context.width, "  ", "    "));
  const standing = context.paint(COLOUR[detail.standing], standingWord(detail));
  context.line(`${context.paint("bold", clean(detail.name))}  ${standing}`);
  add(clean(detail.target));
  if (detail.since !== null) add(`Since ${when(detail.since)}.`);
  add(`Last look: ${lastLook(detail)}.`);
  if (detail.alert) add(`An alert is open for audience ${clean(detail.audience)}.`);
  add(detail.type === "heartbeat" ? `Overdue at ${when(detail.nextAt)}.` : `Next look: ${when(detail.nextAt)}.`);
  const missed = detail.missed === 0 ? "" : `, ${detail.missed} missed while nobody could look`;
  const counted = `${many(detail.checks, "check", "checks")}, ${detail.failures} failed`;
  add(`${counted}, ${many(detail.alerts, "alert", "alerts")}${missed}.`);
  if (detail.unseen > 0) add(`Could not be looked at ${detail.unseen} times in a row.`);
  if (detail.repair !== null) add(repairText(detail.repair));
  if (detail.type === "heartbeat") beatLines(context, detail);
  if (detail.events.length === 0) return;
  context.heading("Lately");
  for (const { at, type, detail: facts } of detail.events)
    context.lines(hang(eventText(type, facts), context.width, `  ${when(at)}  `, "    "));
}

function beatLines(context: Context, { beatAt, heartbeatUrl }: Detail): void {
  const add = (text: string): void => context.lines(hang(text, context.width, "  ", "    "));
  add(beatAt === null ? "Its job has not reported yet." : `Its job reported last at ${when(beatAt)}.`);
  if (heartbeatUrl === null) {
    add('Its job cannot report: set "webhooks": {"port": 8787} in config.json, then `holdpoint server reload`.');
    return;
  }
  context.heading("The last line of the job");
  // One line, however long: it is copied.
  context.line(`  curl -fsS -m 10 --retry 5 --retry-connrefused -d '' ${heartbeatUrl}`);
  context.line();
  add("Add /fail to the address when the job failed; what is sent with -d is told to people.");
}

function standingWord({ maintenance, standing, alert }: Summary): string {
  const words = { new: "not known yet", up: "up", down: alert ? "down" : "failing", unstable: "unstable" };
  return maintenance ? `${words[standing]} (maintenance)` : words[standing];
}

function lastLook({ finding, lastAt, row, wanted, standing }: Summary): string {
  if (finding === null) return "none yet";
  const confirming = finding.code !== "ok" && standing === "up" && row < wanted ? ` (${row} of ${wanted})` : "";
  return `${findingText(finding)}${confirming}${lastAt === null ? "" : `, ${dayTime(lastAt, Date.now())}`}`;
}

function findingText(finding: Finding): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  return clean(plain(findingPhrase(finding), { timeZone, reference: Date.now(), nameZone: true }));
}

function repairText({ at, by, error, runId, status }: NonNullable<Detail["repair"]>): string {
  const who = by === null ? "by its own authority" : `asked for by ${clean(by)}`;
  if (status === "refused") return `The repair ${who} could not be started: ${clean(error ?? "")}`;
  return status === "wanted" ? `A repair was ${who}, ${when(at)}.` : `Repair ${who}: run ${clean(runId ?? "")}.`;
}

const EVENTS: Readonly<Record<string, string>> = {
  "monitor.added": "added",
  "monitor.changed": "its definition changed",
  "monitor.removed": "removed",
  "monitor.down": "down",
  "monitor.up": "up again",
  "monitor.unstable": "keeps changing",
  "monitor.repairWanted": "a repair is wanted",
  "monitor.repairStarted": "a repair was started",
  "monitor.repairRefused": "a repair could not be started",
};

function eventText(type: string, facts: unknown): string {
  const { finding } = facts as { finding?: Finding };
  const word = EVENTS[type] ?? type;
  return finding === undefined || finding.code === "ok" ? word : `${word}: ${findingText(finding)}`;
}
