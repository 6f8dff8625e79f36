/**
 * What the extension needs beyond drawing: client, link, commands, the tool. Loaded after Pi has started, because the schemas
 * behind it take longer to load than everything else; so nothing that Pi loads at once may import this file.
 */
import { PI_CONNECT } from "../../../src/contracts/limits.ts";
import { product } from "../../../src/contracts/product.ts";
import type { SessionView } from "../../../src/contracts/pi/session-view.ts";
import type { OperationPayload } from "../../../src/contracts/protocol/operations.ts";
import { PI_LINK_PROTOCOL } from "../../../src/contracts/protocol/pi-link.ts";
import { piCommands as words } from "../../../renderers/text/en.ts";
import { Actions, Refusal, told } from "./actions.ts";
import { Answering } from "./answer/answering.ts";
import { channelCommand } from "./commands/channel.ts";
import type { Command, CommandRequest, CommandTools } from "./commands/request.ts";
import { resourceManagerCommand } from "./commands/resource-manager.ts";
import { Setup } from "./commands/setup.ts";
import { workflowCommand } from "./commands/workflow.ts";
import type { Life } from "./life.ts";
import { Link } from "./link/link.ts";
import type { PiApi, PiContext, PiToolResult } from "./pi-api.ts";
import { piVersion } from "./pi-version.ts";
import { Service } from "./service.ts";
import type { StandingWatch } from "./standing.ts";
import { executeTool } from "./tool/execute.ts";
import type { TurnReport, TurnStart } from "./turns.ts";

/** What the session gives to its backend. */
export interface BackendHost {
  readonly life: Life;
  readonly pi: PiApi;
  /** New for each instance of the extension. */
  readonly instance: string;
  readonly standing: StandingWatch;
  readonly say: (text: string, type?: "info" | "warning") => void;
  readonly onView: (view: SessionView) => void;
  readonly onEntry: () => void;
  readonly onReachable: (reachable: boolean) => void;
  /** By the server's clock. */
  readonly now: () => number;
  readonly openTurn: () => (TurnStart & { readonly activeMs: number }) | undefined;
  readonly wantsText: (turn: TurnStart) => boolean;
}

export type CommandName = "workflow" | "workflow-channel" | "resource-manager";

const COMMANDS: Readonly<Record<CommandName, Command>> = {
  workflow: workflowCommand,
  "workflow-channel": channelCommand,
  "resource-manager": resourceManagerCommand,
};

export class Backend {
  readonly link: Link;
  /** Names of workflows that can be started here. */
  workflowNames: readonly string[] = [];
  readonly #host: BackendHost;
  readonly #service: Service;
  readonly #actions: Actions;
  readonly #answering: Answering;
  readonly #setup: Setup;
  #view: SessionView | undefined;

  constructor(host: BackendHost, context: PiContext) {
    this.#host = host;
    const { life, say } = host;
    const sessionId = context.sessionManager.getSessionId();
    this.#service = new Service({
      clientId: `pi:${sessionId}`,
      onStarting: () => say(words.serverStarting()),
      onUnavailable: (why) => say(words.serverUnavailable(why), "warning"),
    });
    this.link = new Link({
      life,
      pi: host.pi,
      standing: host.standing,
      socketPath: async () => (await this.#service.call("pi.open", {})).socket,
      hello: ({ cwd, mode }) => ({
        type: "hello",
        protocol: PI_LINK_PROTOCOL,
        product: product().version,
        installPath: product().installPath,
        piVersion: piVersion(),
        sessionId,
        instance: host.instance,
        pid: process.pid,
        cwd,
        mode,
      }),
      onView: (view) => this.#see(view),
      onEntry: () => host.onEntry(),
      onState: (state, why) => {
        host.onReachable(state === "live" || state === "connecting");
        if (state === "over") say(words.linkOver(why ?? ""), "warning");
      },
      textOf: (report) => textOf(report, host),
      openTurn: () => {
        const turn = host.openTurn();
        return turn === undefined ? null : { turnId: turn.turnId, activeMs: turn.activeMs };
      },
    });
    const view = (): SessionView | undefined => this.#view;
    this.#actions = new Actions({
      service: this.#service,
      view,
      cwd: () => life.context?.cwd ?? process.cwd(),
      within: () => {
        const turn = host.openTurn()?.turnId;
        return turn === undefined ? undefined : { session: sessionId, turn };
      },
      origin: async () => {
        const turn = host.openTurn()?.turnId ?? null;
        return (await this.link.whenLive(PI_CONNECT.liveMs)) ? this.#origin(sessionId, turn) : undefined;
      },
    });
    this.#answering = new Answering({
      life,
      link: this.link,
      service: this.#service,
      actions: this.#actions,
      view,
      now: host.now,
      say,
    });
    this.#setup = new Setup({ life, say });
    life.begin("link", () => this.link.run());
    life.begin("workflows", async () => {
      this.workflowNames = (await this.#actions.workflows()).map(({ name }) => name);
    });
    life.signal.addEventListener("abort", () => this.#service.close(), { once: true });
  }

  get view(): SessionView | undefined {
    return this.#view;
  }

  /** Serves a command. Never rejects; the text says what went wrong. */
  async command(name: CommandName, request: CommandRequest): Promise<{ text: string; failed: boolean }> {
    const tools: CommandTools = {
      service: this.#service,
      actions: this.#actions,
      answering: this.#answering,
      setup: this.#setup,
      troubles: () => this.#host.life.troubles,
      clear: () => this.#clear(),
    };
    try {
      return { text: await COMMANDS[name](request, tools), failed: false };
    } catch (error) {
      return { text: told(error), failed: true };
    }
  }

  tool(toolCallId: string, params: unknown, signal: AbortSignal | undefined): Promise<PiToolResult> {
    const host = { actions: this.#actions, link: this.link, life: this.#host.life, view: () => this.#view };
    return executeTool(host, toolCallId, params, signal);
  }

  #see(view: SessionView): void {
    this.#view = view;
    this.#answering.see(view);
    this.#host.onView(view);
  }

  /** A Pi that is gone after its answer cannot do the steps of an agent. */
  #origin(session: string, turn: string | null): NonNullable<OperationPayload<"run.start">["origin"]> {
    return { session, turn, mode: this.#host.life.context?.hasUI === true ? "interactive" : "headless" };
  }

  async #clear(): Promise<string> {
    if (!this.link.live) throw new Refusal(words.noLink);
    const reply = await this.link.ask({ type: "clear" });
    return reply.ok ? words.cleared : reply.text;
  }
}

function textOf(report: TurnReport, { wantsText }: BackendHost): string | null {
  return "end" in report && wantsText(report.start) ? report.end.text : null;
}
