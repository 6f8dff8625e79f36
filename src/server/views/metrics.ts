/**
 * The figures of a server in Prometheus' text format: counts and times, from the same status that `server status` shows. Labels are
 * states and names of the configuration; no ids of people, no texts, nothing secret.
 */
import type { ServerStatus } from "../../contracts/protocol/operations.ts";

/** The media type of the format. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

type Labels = Readonly<Record<string, string>>;

/** The whole page. Times are seconds, as Prometheus has them. */
export function metricsText(status: ServerStatus): string {
  const page = new Page();
  page.metric("holdpoint_info", "gauge", "Version of the running server.", [[{ version: status.product }, 1]]);
  page.metric("holdpoint_start_time_seconds", "gauge", "When the server started.", [[{}, status.startedAt / 1_000]]);
  page.metric(
    "holdpoint_runs",
    "gauge",
    "Workflow runs by state.",
    Object.entries(status.runs).map(([state, count]) => [{ state }, count]),
  );
  page.metric("holdpoint_runners", "gauge", "Runs that are being executed now.", [[{}, status.runners.length]]);
  page.metric("holdpoint_decisions_pending", "gauge", "Decisions that wait for a person.", [
    [{}, status.pendingDecisions],
  ]);
  page.metric("holdpoint_effects_ambiguous", "gauge", "Actions and messages in doubt.", [
    [{}, status.ambiguousEffects],
  ]);
  page.metric("holdpoint_clients", "gauge", "Connected clients.", [[{}, status.clients]]);
  page.metric("holdpoint_config_error", "gauge", "1 while config.json is invalid and the last good one is used.", [
    [{}, status.configError === null ? 0 : 1],
  ]);
  const channels = (
    name: string,
    help: string,
    value: (channel: ServerStatus["channels"][number]) => number | null,
  ): void =>
    page.metric(
      `holdpoint_channel_${name}`,
      "gauge",
      help,
      status.channels.flatMap((channel): [Labels, number][] => {
        const seen = value(channel);
        return seen === null ? [] : [[{ channel: channel.channel }, seen]];
      }),
    );
  channels("up", "1 while the adapter is ready.", ({ state }) => (state === "ready" ? 1 : 0));
  channels("deaf", "1 while it hears nothing.", ({ deafSince }) => (deafSince === null ? 0 : 1));
  channels("last_poll_time_seconds", "The last good poll.", ({ lastPollAt }) =>
    lastPollAt === null ? null : lastPollAt / 1_000,
  );
  channels("pending_updates", "Updates at the service that were not read yet.", ({ pendingUpdates }) => pendingUpdates);
  channels("queued", "Messages that wait to be sent.", ({ queued }) => queued);
  channels("ambiguous", "Messages in doubt.", ({ ambiguous }) => ambiguous);
  channels("ambiguous_since_time_seconds", "Since when the oldest message is in doubt.", ({ doubts }) =>
    doubts.oldestAt === null ? null : doubts.oldestAt / 1_000,
  );
  channels("restarts", "How often the adapter was started again.", ({ restarts }) => restarts);
  return page.text;
}

class Page {
  text = "";

  metric(name: string, type: "gauge", help: string, samples: readonly (readonly [Labels, number])[]): void {
    if (samples.length === 0) return;
    this.text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n`;
    for (const [labels, value] of samples) {
      const shown = Object.entries(labels).map(([key, text]) => `${key}="${escaped(text)}"`);
      this.text += `${name}${shown.length === 0 ? "" : `{${shown.join(",")}}`} ${value}\n`;
    }
  }
}

function escaped(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
