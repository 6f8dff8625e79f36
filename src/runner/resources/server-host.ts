/** What a pass asks of the server, as frames and their replies. */
import { fromErrorRecord, HoldpointError } from "../../contracts/errors.ts";
import { findWorkflow } from "../../contracts/discovery.ts";
import type {
  FromResourceRunner,
  PassRequest,
  ReconcileLaunch,
  ToResourceRunner,
} from "../../contracts/protocol/resource-runner.ts";
import type { ChildRun } from "../../resource/index.ts";
import type { PassHost } from "../../resource/pass.ts";

type Reply = Extract<ToResourceRunner, { type: "reply" }>;
type Asked = PassRequest extends infer R ? (R extends PassRequest ? Omit<R, "messageId"> : never) : never;

export class ServerPassHost implements PassHost {
  readonly #send: (frame: FromResourceRunner) => void;
  readonly openEffects: readonly string[];
  readonly #projectPath: string;
  readonly #open = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #next = 0;

  constructor(
    send: (frame: FromResourceRunner) => void,
    { openEffects, projectPath }: Pick<ReconcileLaunch, "openEffects" | "projectPath">,
  ) {
    this.#send = send;
    this.openEffects = openEffects;
    this.#projectPath = projectPath;
  }

  /** False for a reply that nobody waits for. */
  answer({ error, messageId, result }: Reply): boolean {
    const waiting = this.#open.get(messageId);
    if (waiting === undefined) return false;
    this.#open.delete(messageId);
    if (error === undefined) waiting.resolve(result);
    else waiting.reject(fromErrorRecord(error));
    return true;
  }

  reserve(effect: Parameters<PassHost["reserve"]>[0]): ReturnType<PassHost["reserve"]> {
    return this.#ask({ type: "effect.reserve", ...effect });
  }

  settle(settled: Parameters<PassHost["settle"]>[0]): ReturnType<PassHost["settle"]> {
    return this.#ask({ type: "effect.settle", ...settled });
  }

  async ensureRun({ input, requestKey, workflow }: Parameters<PassHost["ensureRun"]>[0]): Promise<ChildRun> {
    const file = await findWorkflow(workflow, { projectPath: this.#projectPath });
    return this.#ask({ type: "workflow.ensure", requestKey, workflow: file.name, workflowPath: file.path, input });
  }

  cancelRun({ reason, requestKey }: Parameters<PassHost["cancelRun"]>[0]): Promise<ChildRun | null> {
    return this.#ask({ type: "workflow.cancel", requestKey, ...(reason === null ? {} : { reason }) });
  }

  changeSettings(request: Parameters<PassHost["changeSettings"]>[0]): ReturnType<PassHost["changeSettings"]> {
    return this.#ask({ type: "workflow.changeSettings", ...request });
  }

  queueFollowUp(request: Parameters<PassHost["queueFollowUp"]>[0]): ReturnType<PassHost["queueFollowUp"]> {
    return this.#ask({ type: "workflow.queueFollowUp", ...request });
  }

  async removeFollowUp(request: Parameters<PassHost["removeFollowUp"]>[0]): Promise<void> {
    await this.#ask({ type: "workflow.removeFollowUp", ...request });
  }

  async setFinalizer(finalizer: string, present: boolean): Promise<void> {
    await this.#ask({ type: "finalizer.set", finalizer, present });
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the reply is what the request's kind says
  #ask<T>(request: Asked): Promise<T> {
    const messageId = (this.#next += 1);
    return new Promise<T>((resolve, reject) => {
      this.#open.set(messageId, { resolve: resolve as (value: unknown) => void, reject });
      try {
        this.#send({ ...request, messageId });
      } catch (error) {
        this.#open.delete(messageId);
        reject(error instanceof Error ? error : new HoldpointError("internal", String(error)));
      }
    });
  }
}
