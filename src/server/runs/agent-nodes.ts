/** What runs with agent nodes need of this machine: which Pi, where its sessions lie, and whether it is there at all. */
import { join } from "node:path";
import type { PiConfig } from "../../contracts/config.ts";
import type { DefinitionSnapshot } from "../../contracts/definition.ts";
import { HoldpointError } from "../../contracts/errors.ts";
import { checkPi, type PiCheck } from "../../contracts/pi/check.ts";
import type { RunnerLaunch } from "../../contracts/protocol/runner.ts";

export class AgentNodes {
  readonly #config: () => PiConfig;
  readonly #agentsDir: string;
  /** The check of one configuration that is going on or found a suitable Pi. */
  #checked: { readonly config: string; readonly found: Promise<PiCheck> } | undefined;

  /** @param config the live configuration. */
  constructor(config: () => PiConfig, home: string) {
    this.#config = config;
    this.#agentsDir = join(home, "agents");
  }

  /** The fields of a launch. */
  get launch(): Required<Pick<RunnerLaunch, "pi" | "agentsDir">> {
    const { agentDir = null, command } = this.#config();
    return { pi: { command, agentDir }, agentsDir: this.#agentsDir };
  }

  /** Why a workflow cannot run here: it has agent nodes and there is no suitable Pi. Null when it can. */
  async obstacle({ name, nodes }: DefinitionSnapshot): Promise<HoldpointError | null> {
    const node = Object.keys(nodes).find((id) => nodes[id]?.type === "agent");
    if (node === undefined) return null;
    const check = await this.#check();
    if (check.ok) return null;
    const { found, needed } = check;
    return new HoldpointError(
      "piUnavailable",
      `Workflow "${name}" has agent nodes ("${node}"), which need ${needed}; found: ${found}.`,
      { details: { node, found, needed } },
    );
  }

  /** A Pi that was found is not looked for again; one that was not may have been installed since. */
  async #check(): Promise<PiCheck> {
    const pi = this.#config();
    const config = JSON.stringify(pi);
    if (this.#checked?.config !== config) this.#checked = { config, found: checkPi(pi) };
    const asked = this.#checked;
    const check = await asked.found;
    if (!check.ok && this.#checked === asked) this.#checked = undefined;
    return check;
  }
}
