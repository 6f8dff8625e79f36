/**
 * The seams that tests may use on a real server: the controlled clock, fault points, and adapters from a fixture. They are refused
 * unless every Telegram profile points to this machine, so that none of them can ever act on a real chat.
 */
import type { Config } from "../../contracts/config.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { type FaultSeam, faultSeam, parseFault } from "../../state/faults.ts";
import type { ChannelSpec } from "../channels/channel-supervisor.ts";

export interface TestSeams {
  readonly clockSocket: string | null;
  /** Where the controlled clock begins, ms; default: now. */
  readonly clockStart: number | null;
  readonly faults: FaultSeam | null;
  readonly adapterEntries: Readonly<Record<string, string>>;
  readonly channels: readonly ChannelSpec[];
}

/** Reads `HOLDPOINT_TEST_CLOCK`, `HOLDPOINT_FAULT` and `HOLDPOINT_TEST_ADAPTER`; throws `testSeamRefused` outside a loopback set-up. */
export function testSeams(env: NodeJS.ProcessEnv, config: Config): TestSeams {
  const clock = env["HOLDPOINT_TEST_CLOCK"];
  const fault = env["HOLDPOINT_FAULT"];
  const adapter = env["HOLDPOINT_TEST_ADAPTER"];
  if (clock || fault || adapter) {
    for (const [profile, { apiRoot }] of Object.entries(config.telegramProfiles)) {
      if (!isLoopback(apiRoot)) {
        throw new HoldpointError(
          "testSeamRefused",
          `A test seam is set, but telegramProfiles.${profile}.apiRoot is ${apiRoot}, which is not this machine.`,
        );
      }
    }
  }
  const [clockSocket = null, start] = clock ? clock.split("@") : [];
  const extra = adapter ? (JSON.parse(adapter) as { kind: string; entry: string; channels: ChannelSpec[] }) : null;
  return {
    clockSocket,
    clockStart: start === undefined ? null : Number(start),
    faults: fault ? faultSeam(parseFault(fault)) : null,
    adapterEntries: extra ? { [extra.kind]: extra.entry } : {},
    channels: extra?.channels ?? [],
  };
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
