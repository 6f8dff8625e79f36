/**
 * The seams that tests may use on a real server: the controlled clock, fault points, and adapters from a fixture. They are refused
 * unless every Telegram profile points to this machine, so that none of them can ever act on a real chat.
 */
import type { Config } from "../../contracts/config.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { type FaultSeam, faultSeam, noiseSeam, parseFault } from "../../state/faults.ts";
import type { ChannelSpec } from "../channels/channel-supervisor.ts";
import { type ChildFault, childFault, type ChildFaultPoint, parseChildFault } from "./child-faults.ts";

export interface TestSeams {
  readonly clockSocket: string | null;
  /** Where the controlled clock begins, ms; default: now. */
  readonly clockStart: number | null;
  readonly faults: FaultSeam | null;
  readonly childFault: ChildFault | null;
  readonly adapterEntries: Readonly<Record<string, string>>;
  readonly channels: readonly ChannelSpec[];
}

/**
 * Reads `HOLDPOINT_TEST_CLOCK`, `HOLDPOINT_FAULT`, `HOLDPOINT_FAULT_CHILD` and `HOLDPOINT_TEST_ADAPTER`; throws `testSeamRefused`
 * outside a loopback set-up. `onChildKill` is told when the seam has killed a child.
 */
export function testSeams(
  env: NodeJS.ProcessEnv,
  config: Config,
  onChildKill: (point: ChildFaultPoint) => void = () => undefined,
): TestSeams {
  const clock = env["HOLDPOINT_TEST_CLOCK"];
  const fault = env["HOLDPOINT_FAULT"];
  const child = env["HOLDPOINT_FAULT_CHILD"];
  const adapter = env["HOLDPOINT_TEST_ADAPTER"];
  if (clock || fault || child || adapter) {
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
  const childPoint = child ? parseChildFault(child) : null;
  const noise = childPoint?.batch ? noiseSeam() : null;
  return {
    clockSocket,
    clockStart: start === undefined ? null : Number(start),
    faults: fault ? faultSeam(parseFault(fault)) : noise,
    childFault:
      childPoint &&
      childFault(childPoint, (point) => {
        noise?.arm();
        onChildKill(point);
      }),
    adapterEntries: extra ? { [extra.kind]: extra.entry } : {},
    channels: extra?.channels ?? [],
  };
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
