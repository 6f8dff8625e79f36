/**
 * How long a node may hold its runner without giving way. The runner itself bounds every node that gives way; for one that
 * does not, the server applies the same limit from outside.
 */
import type { DefinitionSnapshot, NodeSnapshot } from "../../contracts/definition.ts";
import { AGENT, WORKFLOW } from "../../contracts/limits.ts";

/**
 * Milliseconds, or null for no limit.
 *
 * @param begun the node's effect is reserved: what runs now is what the node's own limit is for. Before, it describes itself.
 */
export function holdLimit(node: NodeSnapshot, begun: boolean): number | null {
  switch (node.type) {
    case "compute":
    case "settingsRoute":
      return node.timeoutMs;
    case "action":
    case "shell":
      return begun ? node.timeoutMs : WORKFLOW.nodeTimeoutMs;
    case "agent":
      // Its own limit counts the turns of the model; of its functions each has this.
      return AGENT.describeMs;
    case "notify":
    case "checkpoint":
    case "sleep":
    case "humanDecision":
      return WORKFLOW.nodeTimeoutMs;
  }
}

/** The shortest limit of any node of a definition. */
export function shortestHold({ nodes }: DefinitionSnapshot): number {
  return Object.values(nodes).reduce(
    (shortest, node) => Math.min(shortest, holdLimit(node, true) ?? shortest, holdLimit(node, false) ?? shortest),
    WORKFLOW.nodeTimeoutMs,
  );
}
