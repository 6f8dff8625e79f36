/** The child's side of probes.v1: starts each probe that comes at once, and answers each exactly once. */
import { messageOf } from "../../contracts/errors.ts";
import type { FromProbes, ToProbes } from "../../contracts/protocol/probes.ts";
import type { FramePort } from "../../contracts/wire/frames.ts";
import type { Registrar } from "../shell/index.ts";
import { detailOf, failed } from "./expect.ts";
import { probe } from "./probe.ts";

/** Resolves when the server says stop. */
export function serveProbes(port: FramePort<ToProbes, FromProbes>): Promise<void> {
  const registered = new Map<number, () => void>();
  const registrarOf = (id: number): Registrar => ({
    register: async (pid, startIdentity) => {
      const done = new Promise<void>((resolve) => registered.set(id, resolve));
      port.send({ type: "group", id, pid, startIdentity });
      await done;
      return String(id);
    },
    unregister: (_, outcome) => {
      port.send({ type: "group.gone", id, outcome: outcome.slice(0, 200) });
      return Promise.resolve();
    },
  });
  return new Promise((resolve) => {
    port.onFrame((frame) => {
      switch (frame.type) {
        case "launch":
          return port.send({ type: "ready" });
        case "probe": {
          const { check, id, now, timeoutMs } = frame;
          const began = performance.now();
          return void probe(check, { timeoutMs, now, registrar: registrarOf(id) })
            .catch((error: unknown) => failed({ code: "notProbed", detail: detailOf(messageOf(error)) }))
            .then((seen) => port.send({ type: "result", id, ...seen, durationMs: performance.now() - began }));
        }
        case "registered":
          registered.get(frame.id)?.();
          registered.delete(frame.id);
          return;
        case "stop":
          return resolve();
      }
    });
  });
}
