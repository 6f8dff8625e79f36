/**
 * The bridge's end of the private pipe: calls go out, verdicts come back. When the pipe closes without a good-bye the
 * runner is dead; then everything that this Pi started is killed, and Pi with it, so that nothing outlives the pipe.
 */
import { Socket } from "node:net";
import {
  toBridgeSchema,
  type BridgeLaunch,
  type FromBridge,
  type ToBridge,
  type ToolCall,
} from "../../../src/contracts/pi/bridge.ts";
import { startIdentity } from "../../../src/contracts/process-identity.ts";
import { killMembers } from "../../../src/contracts/process-tree.ts";
import { framePort, type FramePort } from "../../../src/contracts/wire/frames.ts";

type Verdict = Extract<ToBridge, { type: "verdict" }>;

export class Channel {
  readonly #port: FramePort<ToBridge, FromBridge>;
  readonly #waiting = new Map<string, (verdict: Verdict | null) => void>();
  #parted = false;

  constructor({ fd, mark }: BridgeLaunch) {
    this.#port = framePort<ToBridge, FromBridge>(new Socket({ fd, readable: true, writable: true }), toBridgeSchema);
    this.#port.onFrame((frame) => this.#take(frame));
    this.#port.onClose(() => {
      for (const [callId] of this.#waiting) this.#settle(callId, null);
      if (!this.#parted) die(mark);
    });
    this.#port.send({ type: "ready", protocol: 1, pid: process.pid });
  }

  /** The runner's verdict. Rejects when the call cannot be sent, the turn is aborted, or the runner is gone. */
  call(callId: string, call: ToolCall, signal: AbortSignal | undefined): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const aborted = (): void => this.#settle(callId, null);
      this.#waiting.set(callId, (verdict) => {
        signal?.removeEventListener("abort", aborted);
        if (verdict === null) reject(new Error("The step ended before there was an answer."));
        else resolve(verdict);
      });
      try {
        this.#port.send({ type: "call", callId, call });
      } catch (error) {
        this.#waiting.delete(callId);
        reject(error instanceof Error ? error : new Error(String(error)));
        return;
      }
      if (signal?.aborted === true || this.#port.closed) aborted();
      else signal?.addEventListener("abort", aborted, { once: true });
    });
  }

  #take(frame: ToBridge): void {
    if (frame.type === "bye") this.#parted = true;
    else this.#settle(frame.callId, frame);
  }

  #settle(callId: string, verdict: Verdict | null): void {
    const settle = this.#waiting.get(callId);
    this.#waiting.delete(callId);
    settle?.(verdict);
  }
}

function die(mark: string): void {
  try {
    killMembers({ pid: process.pid, startIdentity: startIdentity(process.pid), mark });
  } finally {
    process.kill(process.pid, "SIGKILL");
  }
}
