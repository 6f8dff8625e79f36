/**
 * What can be done from a session, once for the model's tool and for people's commands: each takes plain values, asks the
 * server, and gives the text that tells what came of it. Errors are the server's own, with their remedy.
 */
import { statusLines } from "../../../renderers/pi/index.ts";
import { piCommands as words } from "../../../renderers/text/en.ts";
import { findWorkflow, listWorkflows, type WorkflowFile } from "../../../src/contracts/discovery.ts";
import { HoldpointError, isHoldpointError } from "../../../src/contracts/errors.ts";
import { suggestion } from "../../../src/contracts/nearest.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import type { OperationPayload, OperationResult } from "../../../src/contracts/protocol/operations.ts";
import type { JsonValue } from "../../../src/contracts/protocol/shared.ts";
import type { CallOptions } from "../../../src/client/index.ts";
import type { Service } from "./service.ts";

/** The session that a run is started from, and the turn that must end before it begins. */
type Origin = NonNullable<OperationPayload<"run.start">["origin"]>;

export interface ActionsHost {
  readonly service: Pick<Service, "call">;
  readonly view: () => SessionView | undefined;
  /** Where the session works: workflows are looked for here and started for here. */
  readonly cwd: () => string;
  /** The session as the origin of a run, and the turn that must end first; undefined when the session has no link. */
  readonly origin: () => Promise<Origin | undefined>;
  /** The turn that is under way in the session. */
  readonly within: () => OperationPayload<"run.restart">["within"];
}

/** A refusal of ours, in words for whoever asked. */
export class Refusal extends Error {}

export class Actions {
  readonly #host: ActionsHost;
  /** The run that was started here last, for a session without a view. */
  #own: string | undefined;

  constructor(host: ActionsHost) {
    this.#host = host;
  }

  /** The workflows that a name reaches from here. */
  workflows(): Promise<WorkflowFile[]> {
    return listWorkflows({ projectPath: this.#host.cwd() });
  }

  /** The run that is meant: the named one, else the one of this session. */
  run(given: string | undefined): string {
    const run = given ?? this.#host.view()?.run?.summary.runId ?? this.#own;
    if (run === undefined) throw new Refusal(words.noRun);
    return run;
  }

  async start(workflow: string, input: JsonValue, options: CallOptions): Promise<string> {
    const projectPath = this.#host.cwd();
    const file = await found(workflow, projectPath);
    const origin = await this.#host.origin();
    // A run that nobody hears of is worse than none.
    if (origin === undefined) throw new Refusal(words.noLink);
    const payload = { workflow: file.name, workflowPath: file.path, projectPath, input };
    const ack = await this.#host.service.call("run.start", { ...payload, origin }, options);
    this.#own = ack.runId;
    return words.started(file.name, ack.shortId, origin.turn !== null);
  }

  async status(run: string | undefined): Promise<string> {
    return statusLines(await this.#host.service.call("run.get", { run: this.run(run) })).join("\n");
  }

  async pause(run: string | undefined, options: CallOptions = {}): Promise<string> {
    const ack = await this.#host.service.call("run.pause", { run: this.run(run) }, options);
    return words.runIs(ack.shortId, words.paused);
  }

  async resume(run: string | undefined, options: CallOptions = {}): Promise<string> {
    const ack = await this.#host.service.call("run.resume", { run: this.run(run) }, options);
    return words.runIs(ack.shortId, words.resumed);
  }

  async cancel(run: string | undefined, options: CallOptions = {}): Promise<string> {
    const ack = await this.#host.service.call("run.cancel", { run: this.run(run), reason: null }, options);
    return words.runIs(ack.shortId, words.cancelled);
  }

  async restart(run: string | undefined, options: CallOptions = {}): Promise<string> {
    const within = this.#host.within();
    const payload = { run: this.run(run), reason: null, ...(within === undefined ? {} : { within }) };
    const ack = await this.#host.service.call("run.restart", payload, options);
    this.#own = ack.runId;
    return words.restarted(ack.shortId);
  }

  /** The answer of an ordinary checkpoint. Decisions have no such door: they are answered by people. */
  async answerCheckpoint(request: string, answer: JsonValue, options: CallOptions = {}): Promise<string> {
    const ack = await this.#host.service.call("checkpoint.answer", { request, answer }, options);
    return words.runIs(ack.shortId, words.answeredCheckpoint);
  }

  /** Of the scope with this id, or of the run itself. */
  async changeSettings(
    given: {
      readonly run?: string | undefined;
      readonly scope?: string | undefined;
      readonly expected?: number | undefined;
    },
    patch: JsonValue,
    options: CallOptions = {},
  ): Promise<string> {
    const run = this.run(given.run);
    const mount = given.scope === undefined ? "" : await this.#mountOf(run, given.scope);
    const payload = { run, mount, patch, expectedChangeNumber: given.expected ?? null };
    const ack = await this.#host.service.call("run.changeSettings", payload, options);
    return words.settingsChanged(ack.changeNumber);
  }

  async queueFollowUp(run: string | undefined, prompt: string, options: CallOptions = {}): Promise<string> {
    const ack = await this.#host.service.call("followUp.queue", { run: this.run(run), prompt }, options);
    return words.followUpQueued(ack.orderNumber, ack.followUpId);
  }

  async removeFollowUp(run: string | undefined, followUp: string, options: CallOptions = {}): Promise<string> {
    const ack = await this.#host.service.call("followUp.remove", { run: this.run(run), followUp }, options);
    return words.followUpRemoved(ack.orderNumber);
  }

  async #mountOf(run: string, scope: string): Promise<string> {
    const { scopes }: OperationResult<"run.settings"> = await this.#host.service.call("run.settings", { run });
    const known = scopes.find(({ scopeId }) => scopeId === scope);
    if (known === undefined)
      throw new Refusal(
        words.unknownWord(scope, scopes.length === 0 ? ["none"] : scopes.map(({ scopeId }) => scopeId)),
      );
    return known.mount;
  }
}

/** As a person or a model named it; the error tells the nearest name. */
async function found(given: string, projectPath: string): Promise<WorkflowFile> {
  try {
    return await findWorkflow(given, { projectPath });
  } catch (error) {
    const names = isHoldpointError(error) ? error.details?.["names"] : undefined;
    if (!isHoldpointError(error) || !Array.isArray(names) || names.length === 0) throw error;
    throw new HoldpointError(error.kind, error.message, { remedy: suggestion(given, names.map(String)) });
  }
}

/** What an error says to whoever asked: what happened and what to do. */
export function told(error: unknown): string {
  if (error instanceof Refusal) return error.message;
  if (isHoldpointError(error)) return `${error.message} ${error.remedy} (${error.code})`;
  return error instanceof Error ? error.message : String(error);
}
