/**
 * The fault seam of children: one that is killed when a frame of a kind passes, for the crash tests. Whether the seam may be used at all
 * is decided in test-seams.ts.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import { toAdapterSchema, fromAdapterSchema } from "../../contracts/protocol/channel.ts";
import { fromProbesSchema, toProbesSchema } from "../../contracts/protocol/probes.ts";
import { fromResourceRunnerSchema, toResourceRunnerSchema } from "../../contracts/protocol/resource-runner.ts";
import { toRunnerSchema, fromRunnerSchema } from "../../contracts/protocol/runner.ts";
import type { FramePort } from "../../contracts/wire/frames.ts";
import type { ChildSpec } from "../ports.ts";

/**
 * - `in`: the child dies when its frame has arrived; the frame is handled, as whatever a dead process left in its pipe.
 * - `lost`: the child dies just before it can send the frame: neither it nor a later one arrives.
 * - `out`: the child dies when the frame was sent to it, whether it has read it or not.
 */
export type FrameMoment = "in" | "lost" | "out";

export interface ChildFaultPoint {
  readonly child: ChildSpec<unknown>["kind"];
  readonly moment: FrameMoment;
  readonly frame: string;
  /** Which occurrence in the life of this server, from 1. */
  readonly count: number;
  /** Put three other commands, of which one throws, into the next batch. */
  readonly batch: boolean;
  /** As it was given. */
  readonly text: string;
}

/** A frame of steps that settles one action and reserves the next: its own kind here, because both are lost or stored with it. */
const BETWEEN_ACTIONS = "advance.betweenActions";

/** Every frame kind of all protocols by child and direction: the denominator of the crash tests. */
export const CHILD_FRAMES = {
  runner: { in: [...typesOf(fromRunnerSchema), BETWEEN_ACTIONS], out: typesOf(toRunnerSchema) },
  adapter: { in: typesOf(fromAdapterSchema), out: typesOf(toAdapterSchema) },
  resource: { in: typesOf(fromResourceRunnerSchema), out: typesOf(toResourceRunnerSchema) },
  probes: { in: typesOf(fromProbesSchema), out: typesOf(toProbesSchema) },
} as const satisfies Record<ChildFaultPoint["child"], unknown>;

/** Frames arrive with `in` and get lost with `lost`, both from the child. */
export function framesOf(child: ChildFaultPoint["child"], moment: FrameMoment): readonly string[] {
  return CHILD_FRAMES[child][moment === "out" ? "out" : "in"];
}

/** Reads `<runner|adapter|resource|probes>:<in|lost|out>:<frame>[:n][+batch]`. Throws `usage` for another form or an unknown frame. */
export function parseChildFault(text: string): ChildFaultPoint {
  const match = /^(runner|adapter|resource|probes):(in|lost|out):([a-zA-Z.]+)(?::([1-9][0-9]{0,5}))?(\+batch)?$/.exec(
    text,
  );
  if (match === null) {
    throw new HoldpointError(
      "usage",
      `HOLDPOINT_FAULT_CHILD "${text}" has not the form <runner|adapter|resource|probes>:<in|lost|out>:<frame>[:n][+batch].`,
    );
  }
  const [, child, moment, frame = "", count, batch] = match as unknown as [
    string,
    ChildFaultPoint["child"],
    FrameMoment,
    string | undefined,
    string | undefined,
    string | undefined,
  ];
  const known = framesOf(child, moment);
  if (!known.includes(frame)) {
    throw new HoldpointError("usage", `HOLDPOINT_FAULT_CHILD names the unknown frame "${frame}".`, {
      details: { frames: [...known] },
    });
  }
  return { child, moment, frame, count: Number(count ?? 1), batch: batch !== undefined, text };
}

export interface ChildFault {
  /** The port as the server uses it; `kill` ends the child with SIGKILL. */
  watch<In, Out>(spec: ChildSpec<In>, port: FramePort<In, Out>, kill: () => void): FramePort<In, Out>;
}

/** The real seam of some points, each of which is counted by itself. `onKill` is told once of each that was reached. */
export function childFault(points: readonly ChildFaultPoint[], onKill: (point: ChildFaultPoint) => void): ChildFault {
  const seen = new Map<ChildFaultPoint, number>();
  return {
    watch(spec, port, kill) {
      const own = points.filter(({ child }) => child === spec.kind);
      if (own.length === 0) return port;
      let struck: ChildFaultPoint | undefined;
      /** Counts a frame, and kills the child at the point that is reached with it. What a dead one left in its pipe reaches none. */
      const count = (direction: "in" | "out", frame: unknown): void => {
        if (struck !== undefined) return;
        for (const point of own) {
          if ((point.moment === "out") !== (direction === "out") || !isOf(point.frame, frame)) continue;
          seen.set(point, (seen.get(point) ?? 0) + 1);
          if (seen.get(point) !== point.count) continue;
          // Another point that waits for this frame waits for the next of its kind.
          struck = point;
          kill();
          onKill(point);
          return;
        }
      };
      return {
        send(...frames) {
          for (const frame of frames) {
            port.send(frame);
            count("out", frame);
          }
        },
        onFrame(listener) {
          port.onFrame((frame) => {
            count("in", frame);
            if (struck?.moment !== "lost") listener(frame);
          });
        },
        onClose: (listener) => port.onClose(listener),
        close: () => port.close(),
        get closed() {
          return port.closed;
        },
        get backlog() {
          return port.backlog;
        },
      };
    },
  };
}

function isOf(kind: string, frame: unknown): boolean {
  const { reserve, settle, type } = frame as { type?: unknown; settle?: unknown; reserve?: unknown };
  if (kind === BETWEEN_ACTIONS) return type === "advance" && settle !== undefined && reserve !== undefined;
  return type === kind;
}

/** The values of `type` in a union of frames. */
function typesOf(schema: unknown): readonly string[] {
  const options = (schema as { options: readonly { options?: unknown; shape?: { type: { value: string } } }[] })
    .options;
  // A union inside the union (the kinds of `inbound`) shares one type.
  const types = options.flatMap((option) =>
    option.options ? typesOf(option) : option.shape ? [option.shape.type.value] : [],
  );
  return [...new Set(types)];
}
