/**
 * `holdpoint server run | start | status | reload | stop`
 */
import { pathToFileURL } from "node:url";

import { connect, type HoldpointClient, type ServerStatus } from "../../client/index.ts";
import { pause } from "../../client/backoff.ts";
import { isSilence, openConnection } from "../../client/connection.ts";
import { holderOf } from "../../client/holder.ts";
import { resolveHome, serverLogOf, socketPathOf } from "../../client/home.ts";
import { serverEntry, startServer } from "../../client/start.ts";
import { HoldpointError, fromErrorRecord, isHoldpointError } from "../../contracts/errors.ts";
import { CLIENT, PROCESS } from "../../contracts/limits.ts";
import { EXIT } from "../exit-codes.ts";
import type { Context } from "../context.ts";
import { clean, hang } from "../layout.ts";
import { duration, when } from "../times.ts";
import { channelLines } from "./channel.ts";

/** Becomes the server: the same process, so that a service manager sees and stops the right one. */
export async function serverRun(context: Context): Promise<void> {
  process.env["HOLDPOINT_HOME"] = resolveHome(context.home);
  await import(pathToFileURL(serverEntry()).href);
}

export async function serverStart(context: Context): Promise<void> {
  const home = resolveHome(context.home);
  const running = await existing(home);
  if (running) {
    running.close();
  } else {
    const started = performance.now();
    context.line("Starting …");
    const target = { home, socketPath: socketPathOf(home), clientId: "cli-start" };
    (await startServer({ ...target, mayIdleOut: false })).close();
    context.line(`Started in ${duration(performance.now() - started)}.`);
  }
  const status = await context.withClient((client) => client.call("server.status", {}), { start: false });
  context.result({ started: running === undefined, status });
  context.line(`${running ? "Already running" : "Running"}: pid ${status.pid}, home ${status.home}.`);
  context.line(`Log: ${serverLogOf(home)}`);
}

export async function serverStatus(context: Context): Promise<number> {
  const home = resolveHome(context.home);
  const client = await existing(home);
  if (client === undefined) {
    refuseHidden(home);
    context.result({ running: false, home });
    context.line(`No server runs for ${home}. Start it: holdpoint server start`);
    return EXIT.unavailable.code;
  }
  try {
    const status = await client.call("server.status", {});
    context.result({ running: true, ...status });
    if (!context.json) tell(context, status);
    return EXIT.ok.code;
  } finally {
    client.close();
  }
}

/** Has the running server read its configuration again. A configuration that it refuses is this command's error. */
export async function serverReload(context: Context): Promise<void> {
  const { error } = await context.withClient((client) => client.call("server.reload", {}), { start: false });
  if (error !== null) {
    const { kind, message, remedy, details } = fromErrorRecord(error);
    throw new HoldpointError(kind, `The last good configuration stays in use. ${message}`, {
      remedy,
      ...(details === undefined ? {} : { details }),
    });
  }
  context.result({ loaded: true });
  context.line("The configuration was read again and is in use.");
}

export async function serverStop(context: Context): Promise<void> {
  const home = resolveHome(context.home);
  const client = await existing(home);
  if (client === undefined) {
    refuseHidden(home);
    context.result({ stopped: false, home });
    context.line(`No server runs for ${home}.`);
    return;
  }
  const { pid } = await client.call("server.status", {});
  await client.call("server.stop", {}).finally(() => client.close());
  context.line(`Stopping pid ${pid} …`);
  await gone(home, pid);
  context.result({ stopped: true, home, pid });
  context.line("Stopped. Runs and questions are kept; they go on at the next start.");
}

/** A client of the running server, or undefined when none runs. Never starts one. Throws when one runs and is silent. */
export async function existing(home: string): Promise<HoldpointClient | undefined> {
  try {
    return await connect({ home });
  } catch (error) {
    if (isHoldpointError(error) && error.kind === "serverUnavailable" && !isSilence(error)) return undefined;
    throw error;
  }
}

/** Throws when nobody listens although the process of a server is there: its socket was removed, or is not open yet. */
function refuseHidden(home: string): void {
  const pid = holderOf(home);
  if (pid === undefined) return;
  throw new HoldpointError("serverUnavailable", `pid ${pid} holds ${home}, but nothing listens at its socket.`, {
    remedy: `Wait a moment if it is starting. If its socket was removed, \`kill ${pid}\` stops it in order; then start it again.`,
    details: { pid },
  });
}

/** Waits until nobody greets on the socket and the process is gone; a stop waits for messages on their way. */
async function gone(home: string, pid: number): Promise<void> {
  const limit = CLIENT.callMs + PROCESS.stopGraceMs;
  for (const started = performance.now(); performance.now() - started < limit;) {
    if (!isAlive(pid) && !(await greets(home))) return;
    await pause(CLIENT.startPollMs);
  }
  throw new HoldpointError("serverUnavailable", `The server (pid ${pid}) did not end within ${duration(limit)}.`, {
    remedy: `See ${serverLogOf(home)}; \`kill -9 ${pid}\` loses nothing that was acknowledged.`,
  });
}

async function greets(home: string): Promise<boolean> {
  try {
    (await openConnection(socketPathOf(home), "cli-stop")).close();
    return true;
  } catch {
    return false;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Nothing where there are no managed resources. */
function resourceLines({ now, resources }: ServerStatus, width: number): string[] {
  const { count, idleRunners, passes, queued } = resources;
  if (count === 0) return [];
  const idle = idleRunners === 0 ? "" : `; ${idleRunners} idle ${idleRunners === 1 ? "runner" : "runners"}`;
  return [
    `Resources: ${count}, of which ${queued} wait for a pass or are in one${idle}`,
    ...passes.flatMap(({ key, manager, pid, startedAt }) =>
      hang(
        `${clean(manager)} ${clean(key)}, for ${duration(now - startedAt)}${pid === null ? "" : ` (pid ${pid})`}`,
        width,
        "  In a pass: ",
        "    ",
      ),
    ),
  ];
}

function tell(context: Context, status: ServerStatus): void {
  context.line(`Running: pid ${status.pid}, version ${status.product}, up ${duration(status.now - status.startedAt)}`);
  context.line(`Home: ${status.home}`);
  const runs = Object.entries(status.runs).map(([name, count]) => `${count} ${name}`);
  context.line(
    `Runs: ${runs.length > 0 ? runs.join(", ") : "none"}; ${status.runners.length} of ${status.capacity} slots in use`,
  );
  context.line(
    `Waiting for a person: ${status.pendingDecisions} decisions, ${status.ambiguousEffects} effects in doubt`,
  );
  if (status.ambiguousEffects > 0) context.line("  See `holdpoint effect list`.");
  context.lines(resourceLines(status, context.width));
  if (status.channels.length === 0) context.line("Channels: none configured");
  for (const channel of status.channels) context.lines(channelLines(channel, context.width));
  if (status.configError !== null) {
    context.lines(
      hang(`The last good configuration is used: ${clean(status.configError.message)}`, context.width, "⚠️ ", "  "),
    );
  }
  for (const crash of status.crashes) {
    const words = clean(crash.diagnostic.trim().split("\n").at(-1) ?? "");
    context.lines(
      hang(`${when(crash.at)}: ${clean(crash.kind)} ended (${crash.outcome}) ${words}`, context.width, "Died: ", "  "),
    );
  }
}
