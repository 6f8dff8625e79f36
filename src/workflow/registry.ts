/** Registries: workflows by name, for mounts that name what they include instead of importing it. */
import { HoldpointError } from "../contracts/errors.ts";
import { isWorkflow, type WorkflowDefinition } from "./definition.ts";
import type { ResolvedRef } from "./include.ts";

type Entry = WorkflowDefinition | (() => WorkflowDefinition);
type Entries = Readonly<Record<string, Entry>>;
type DefinitionOf<E> = E extends () => infer D ? D : E;

export interface WorkflowRegistry<E extends Entries = Entries> {
  readonly names: readonly string[];
  /** A typed reference for `includeWorkflow({workflow: registry.ref("name")}, …)`. */
  ref<Name extends keyof E & string>(name: Name): ResolvedRef<DefinitionOf<E[Name]>>;
  /** @throws HoldpointError `workflowNotFound` with the names there are. */
  resolve(name: string): WorkflowDefinition;
}

/**
 * A registry. A function as entry is called when the workflow is needed, so that files that name each other can be loaded
 * in any order.
 *
 * @example
 * const registry = defineWorkflowRegistry({ approval, review: () => review });
 */
export function defineWorkflowRegistry<const E extends Entries>(entries: E): WorkflowRegistry<E> {
  const names = Object.keys(entries);
  const registry: WorkflowRegistry<E> = {
    names: Object.freeze(names),
    ref: (name) => Object.freeze({ name, registry }),
    resolve(name) {
      const entry = Object.hasOwn(entries, name) ? entries[name] : undefined;
      // A definition is an object, so a function is an entry that is called.
      const definition = typeof entry === "function" ? entry() : entry;
      if (isWorkflow(definition)) return definition;
      const seen = definition === undefined ? "is not in the registry" : "is not a workflow in the registry";
      throw new HoldpointError(
        "workflowNotFound",
        `Workflow "${name}" ${seen}; there are ${names.join(", ") || "none"}.`,
        {
          details: { names },
        },
      );
    },
  };
  return Object.freeze(registry);
}
