/**
 * The seams that tests may use on a real server: the controlled clock, fault points, and adapters from a fixture. They are refused
 * unless every Telegram profile points to this machine, so that none of them can ever act on a real chat.
 */
import type { Config } from "../../contracts/config.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { type FaultSeam, faultsOf, faultTexts, noiseSeam, tellFault } from "../../state/faults.ts";
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
  /** Laid over the settings of each Telegram channel: its pauses are real time, also under the controlled clock. */
  readonly settings: Readonly<Record<string, unknown>>;
}

/**
 * Reads `HOLDPOINT_TEST_CLOCK`, `HOLDPOINT_FAULT`, `HOLDPOINT_FAULT_CHILD`, `HOLDPOINT_TEST_ADAPTER` and `HOLDPOINT_TEST_SETTINGS`; throws `testSeamRefused`
 * outside a loopback set-up. Both faults may name several points, separated by spaces; each is told in the file of `HOLDPOINT_FAULT_TOLD`. `onChildKill` is told when the seam has killed a child.
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
  const settings = env["HOLDPOINT_TEST_SETTINGS"];
  if (clock || fault || child || adapter || settings) {
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
  const childPoints = faultTexts(child).map((text) => parseChildFault(text));
  const noise = childPoints.some(({ batch }) => batch) ? noiseSeam() : null;
  return {
    clockSocket,
    clockStart: start === undefined ? null : Number(start),
    faults: joined(faultsOf(env), noise),
    childFault:
      childPoints.length === 0
        ? null
        : childFault(childPoints, (point) => {
            if (point.batch) noise?.arm();
            tellFault(env, point.text);
            onChildKill(point);
          }),
    adapterEntries: extra ? { [extra.kind]: extra.entry } : {},
    channels: extra?.channels ?? [],
    settings: settings ? (JSON.parse(settings) as Record<string, unknown>) : {},
  };
}

function joined(faults: FaultSeam | null, noise: FaultSeam | null): FaultSeam | null {
  if (faults === null || noise === null) return faults ?? noise;
  return {
    before: (labels) => faults.before(labels),
    after: (labels) => faults.after(labels),
    noise: (labels) => [...(faults.noise?.(labels) ?? []), ...(noise.noise?.(labels) ?? [])],
  };
}

function isLoopback(url: string): boolean {
  const { hostname } = new URL(url);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}
