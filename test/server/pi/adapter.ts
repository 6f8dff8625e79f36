/** The real Pi adapter as a child in this process: its pipe is a pair of sockets, and it can be killed. */
import { AdapterLoop } from "../../../adapters/channel.ts";
import { connectPi } from "../../../adapters/pi/child/connect.ts";
import { toAdapterSchema, type FromAdapter, type ToAdapter } from "../../../src/contracts/protocol/channel.ts";
import { framePort } from "../../../src/contracts/wire/frames.ts";
import type { Child, ChildExit, ChildSpec } from "../../../src/server/ports.ts";
import { socketPair } from "../../adapters/fake-server.ts";

export interface PiAdapter {
  readonly child: Child<FromAdapter, ToAdapter>;
  readonly loop: AdapterLoop;
  /** As SIGKILL. */
  kill(): void;
  /** Called with each frame of the adapter before the server gets it; returning false drops it. */
  filter: (frame: FromAdapter) => boolean;
}

let count = 0;

export async function piAdapter(spec: ChildSpec<FromAdapter>, onMove: () => void): Promise<PiAdapter> {
  const [near, far] = await socketPair();
  const port = framePort<FromAdapter, ToAdapter>(near, spec.schema);
  const loop = new AdapterLoop(framePort<ToAdapter, FromAdapter>(far, toAdapterSchema), connectPi, {
    note: () => undefined,
  });
  let leave: (exit: ChildExit) => void = () => undefined;
  const exited = new Promise<ChildExit>((resolve) => (leave = resolve));
  port.onClose(() => {
    leave({ code: 0, signal: null, diagnostic: "" });
    onMove();
  });
  count += 1;
  const adapter: PiAdapter = {
    filter: () => true,
    loop,
    kill: () => {
      near.destroy();
      far.destroy();
    },
    child: {
      childId: `adapter-${process.pid}-${count}`,
      pid: 200_000 + count,
      startIdentity: `test-${count}`,
      exited,
      stop: () => {
        near.destroy();
        far.destroy();
        return exited;
      },
      port: {
        send: (...frames) => port.send(...frames),
        close: () => port.close(),
        onFrame: (take) =>
          port.onFrame((frame) => {
            if (!adapter.filter(frame)) return;
            take(frame);
            onMove();
          }),
        onClose: (closed) => {
          // Beside the one above.
          void exited.then(() => closed());
        },
        get closed() {
          return port.closed;
        },
        get backlog() {
          return port.backlog;
        },
      },
    },
  };
  return adapter;
}
