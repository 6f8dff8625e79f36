/**
 * The operator chat: what allowed people can ask and do by commands, and the buttons under the answers.
 *
 * Owns: operator_uses, which answer a command gets. Must not: word anything, decide who is heard (authorize.ts does), or accept answers
 * to decisions (the one door does).
 */
import { CHANNEL_COMMAND, OPERATOR_COMMANDS } from "../../../contracts/decision/operator-codes.ts";
import { nearest } from "../../../contracts/nearest.ts";
import { monitorCounts } from "../../monitors/rows.ts";
import { wellFormed } from "../../decisions/well-formed.ts";
import { waitingIn } from "../receive-text.ts";
import type { ServiceFacts } from "../service-facts.ts";
import { alertsFor, listAlerts } from "./alerts.ts";
import type { OperatorAnswer } from "./answer.ts";
import type { Asker } from "./asker.ts";
import { askCancel, pause, resume } from "./control.ts";
import { listDecisions, waitingFor } from "./decisions.ts";
import { listMonitors } from "./monitors.ts";
import { listProblems, problemsFor } from "./problems.ts";
import { describeRun, listRuns, meantRun, openByStatus, stuckRuns } from "./runs.ts";

/** The answer to a command, or undefined when it is none of the operator's. `args` as they were written. */
export function answerCommand(
  asker: Asker,
  command: string,
  args: string,
  service: ServiceFacts | undefined,
): OperatorAnswer | undefined {
  const [given = ""] = args.trim().split(/\s+/);
  switch (command) {
    case "status":
      return status(asker, service);
    case "decisions":
      return listDecisions(asker, 0);
    case "runs":
      return listRuns(asker, 0);
    case "run":
    case "pause":
    case "resume":
    case "cancel":
      return onRun(asker, command, wellFormed(given.slice(0, 200)));
    case "problems":
      return listProblems(asker, 0);
    case "alerts":
      return listAlerts(asker, 0);
    case "monitors":
      return listMonitors(asker, 0);
    case "help":
    case "start":
      return help(asker);
    default:
      return undefined;
  }
}

const ON_RUN = { run: describeRun, pause, resume, cancel: askCancel } as const;

function onRun(asker: Asker, verb: keyof typeof ON_RUN, given: string): OperatorAnswer {
  const run = meantRun(asker.tx, verb, given);
  return typeof run === "number" ? ON_RUN[verb](asker, run) : { reply: run };
}

function status(asker: Asker, service: ServiceFacts | undefined): OperatorAnswer {
  const alerts = alertsFor(asker).length;
  const { more, problems } = problemsFor(asker);
  return {
    reply: {
      code: "serviceStatus",
      ...(service === undefined ? {} : { since: service.startedAt }),
      channels: (service?.channels ?? []).map(({ channel, lastPollAt, state }) => ({
        channel,
        state,
        ...(lastPollAt === null ? {} : { lastPollAt }),
      })),
      runs: openByStatus(asker.tx),
      decisions: waitingFor(asker).length,
      problems: problems.length + stuckRuns(asker.tx).length,
      ...(more ? { moreProblems: more } : {}),
      ...(alerts === 0 ? {} : { alerts }),
      checks: checksOf(asker),
    },
  };
}

function checksOf({ tx }: Asker): { total: number; troubled: number; nextAt?: number } {
  const { nextAt, total, troubled } = monitorCounts(tx);
  return { total, troubled, ...(nextAt === null ? {} : { nextAt }) };
}

function help({ origin, tx }: Asker): OperatorAnswer {
  const waiting = waitingIn(tx, origin.channel.channelId, origin.place);
  return { reply: { code: "commandHelp", commands: [...OPERATOR_COMMANDS], waiting } };
}

/** What somebody is told who wrote a command that there is not. */
export function unknownCommand(command: string): OperatorAnswer {
  const known: readonly string[] = [...OPERATOR_COMMANDS, CHANNEL_COMMAND];
  const near = nearest(command, known);
  return {
    reply: {
      code: "unknownCommand",
      given: wellFormed(command.slice(0, 64)),
      ...(near === undefined ? {} : { nearest: near }),
    },
  };
}
