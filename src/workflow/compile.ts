/**
 * From an authored workflow to what runs: included workflows are flattened into one graph whose node ids are paths, and
 * every path knows its node and the scope it lies in.
 */
import {
  definitionSnapshotSchema,
  type DefinitionSnapshot,
  type EdgeSnapshot,
  type IncludeSnapshot,
  type NodeSnapshot,
} from "../contracts/definition.ts";
import { HoldpointError } from "../contracts/errors.ts";
import { ID_PATTERN } from "../contracts/ids.ts";
import { INCLUDE } from "../contracts/limits.ts";
import type { ExitDefinition, WorkflowDefinition } from "./definition.ts";
import type { IncludedWorkflow, WorkflowRef } from "./include.ts";
import { nodeSnapshot, type WorkflowNode } from "./nodes.ts";
import type { WorkflowRegistry } from "./registry.ts";

/** One workflow at one place: the root, or a mount. */
export interface CompiledScope {
  /** Full path of the mount; empty for the root. */
  readonly mount: string;
  /** The mount's name in its parent. */
  readonly name: string;
  readonly definition: WorkflowDefinition;
  readonly parent: CompiledScope | undefined;
  readonly include: IncludedWorkflow | undefined;
  /** Local id of a node, or address of a mount's exit → the exit that it is. */
  readonly exits: ReadonlyMap<string, { readonly name: string; readonly exit: ExitDefinition }>;
}

export interface CompiledNode {
  readonly path: string;
  readonly localId: string;
  readonly node: WorkflowNode;
  readonly scope: CompiledScope;
  /** Contracts of the exits through which it leaves, innermost first; undefined for none. */
  exitChecks: { readonly where: string; readonly validate: (value: any) => unknown }[] | undefined;
}

export interface CompiledWorkflow {
  readonly snapshot: DefinitionSnapshot;
  /** By full path. */
  readonly nodes: ReadonlyMap<string, CompiledNode>;
  /** By full mount path; the root is "". */
  readonly scopes: ReadonlyMap<string, CompiledScope>;
}

export interface CompileOptions {
  /** Finds workflows that are named by a plain text. */
  readonly registry?: WorkflowRegistry | undefined;
}

const known = new WeakMap<WorkflowDefinition, CompiledWorkflow>();

/**
 * Compiles a workflow with everything it includes. Compiled once per definition when no registry is given.
 *
 * @throws HoldpointError `workflowInvalid` for an include cycle (with the chain of mounts), an address that is none, or
 *   parts of a wrong shape; `workflowNotFound` for a reference that leads nowhere. The graph's own rules are
 *   `checkDefinition`'s.
 */
export function compileWorkflow(definition: WorkflowDefinition, options: CompileOptions = {}): CompiledWorkflow {
  const before = options.registry === undefined ? known.get(definition) : undefined;
  if (before !== undefined) return before;
  const compiled = new Compiler(definition, options.registry).compile();
  if (options.registry === undefined) known.set(definition, compiled);
  return compiled;
}

/** Whether a workflow names others that are looked up later, itself or in what it includes. */
export function hasReferences(definition: WorkflowDefinition): boolean {
  return Object.values(definition.includes).some(({ workflow }) => isReference(workflow) || hasReferences(workflow));
}

function isReference(workflow: WorkflowDefinition | WorkflowRef): workflow is WorkflowRef {
  return "workflow" in workflow;
}

class Compiler {
  readonly #root: WorkflowDefinition;
  readonly #registry: WorkflowRegistry | undefined;
  readonly #nodes = new Map<string, CompiledNode>();
  readonly #scopes = new Map<string, CompiledScope>();
  readonly #edges: EdgeSnapshot[] = [];
  readonly #snapshots: Record<string, NodeSnapshot> = Object.create(null) as Record<string, NodeSnapshot>;
  readonly #includes: Record<string, IncludeSnapshot> = {};

  constructor(root: WorkflowDefinition, registry: WorkflowRegistry | undefined) {
    this.#root = root;
    this.#registry = registry ?? root.registry;
  }

  compile(): CompiledWorkflow {
    const root = this.#root;
    const { exits, startAt } = this.#add(root, undefined, undefined, [root]);
    const parsed = definitionSnapshotSchema.safeParse({
      schema: "holdpoint.definition-snapshot.v1",
      name: root.name,
      contractId: root.contractId,
      startAt,
      maxSteps: root.maxSteps,
      nodes: Object.fromEntries(Object.entries(this.#snapshots)),
      edges: this.#edges,
      includes: Object.keys(this.#includes).length > 0 ? this.#includes : undefined,
      exits: Object.keys(exits).length > 0 ? exits : undefined,
      settings: root.settings?.snapshot,
    });
    if (!parsed.success) {
      const issue = parsed.error.issues[0];
      throw this.#invalid("", `${issue?.path.map(String).join(".") ?? ""} is invalid: ${issue?.message ?? "unknown"}`);
    }
    // Absent and undefined must be the same thing to whoever digests it.
    const snapshot = JSON.parse(JSON.stringify(parsed.data)) as DefinitionSnapshot;
    return { snapshot, nodes: this.#nodes, scopes: this.#scopes };
  }

  /** Adds one workflow at one place; returns where it starts and which nodes its exits are, as full paths. */
  #add(
    definition: WorkflowDefinition,
    parent: CompiledScope | undefined,
    mounted: { readonly name: string; readonly include: IncludedWorkflow } | undefined,
    chain: readonly WorkflowDefinition[],
  ): { startAt: string; exits: Record<string, string> } {
    const name = mounted?.name ?? "";
    const mount = parent === undefined ? "" : join(parent.mount, name);
    const exitsByNode = new Map<string, { name: string; exit: ExitDefinition }>();
    const scope: CompiledScope = { mount, name, definition, parent, include: mounted?.include, exits: exitsByNode };
    this.#scopes.set(mount, scope);

    for (const [id, node] of Object.entries(definition.nodes)) {
      if (!ID_PATTERN.node.test(id)) {
        throw this.#invalid(
          mount,
          `node ${JSON.stringify(id.slice(0, 200))} has an id that is not ${ID_PATTERN.node.source}`,
        );
      }
      const path = join(mount, id);
      this.#snapshots[path] = nodeSnapshot(definition.name, id, node);
      this.#nodes.set(path, { path, localId: id, node, scope, exitChecks: undefined });
    }
    const children = new Map<string, { startAt: string; exits: Record<string, string> }>();
    for (const [child, include] of Object.entries(definition.includes)) {
      children.set(child, this.#mount(scope, child, include, chain));
    }

    const to = (id: string): string => children.get(id)?.startAt ?? join(mount, id);
    const from = (address: string, where: string): string => this.#from(definition, scope, children, address, where);
    const leaving = new Set<string>();
    for (const edge of definition.edges) {
      leaving.add(edge.from);
      const source = from(edge.from, `edge from "${edge.from}"`);
      if ("to" in edge) this.#edges.push({ from: source, to: to(edge.to) });
      else {
        const cases = Object.entries(edge.switch.cases).map(([name, target]) => [name, to(target)] as const);
        this.#edges.push({ from: source, switch: { on: edge.switch.on, cases: Object.fromEntries(cases) } });
      }
    }

    const exits: Record<string, string> = {};
    for (const [exitName, exit] of Object.entries(definition.exits)) {
      const where = `exit "${exitName}"`;
      if (!ID_PATTERN.node.test(exitName))
        throw this.#invalid(mount, `${where} has a name that is not ${ID_PATTERN.node.source}`);
      if (typeof exit?.from !== "string")
        throw this.#invalid(mount, `${where} needs from: a node, or the exit of a mount`);
      if (leaving.has(exit.from))
        throw this.#invalid(mount, `${where} leaves from "${exit.from}", which has an edge; an exit is an end`);
      const other = exitsByNode.get(exit.from);
      if (other !== undefined)
        throw this.#invalid(mount, `${where} leaves from "${exit.from}" as exit "${other.name}" does`);
      const path = from(exit.from, where);
      const node = this.#nodes.get(path);
      if (node === undefined) throw this.#invalid(mount, `${where} leaves from "${exit.from}", which is no node`);
      const { validate } = exit;
      if (validate !== undefined) {
        const { type } = node.node;
        if (type === "humanDecision" || type === "checkpoint" || type === "sleep") {
          // Their output comes from outside, and counts before anything of the workflow can look at it.
          throw this.#invalid(
            mount,
            `${where} has a validate, but leaves from "${exit.from}", which waits ${type === "sleep" ? "for a time" : "for an answer"}; put a compute node between`,
          );
        }
        if (typeof validate !== "function") throw this.#invalid(mount, `${where} has a validate that is no function`);
        (node.exitChecks ??= []).push({ where: mount === "" ? exitName : `${mount}.${exitName}`, validate });
      }
      exitsByNode.set(exit.from, { name: exitName, exit });
      exits[exitName] = path;
    }
    return { startAt: to(definition.startAt), exits };
  }

  #mount(
    scope: CompiledScope,
    name: string,
    include: IncludedWorkflow,
    chain: readonly WorkflowDefinition[],
  ): { startAt: string; exits: Record<string, string> } {
    const { definition, mount } = scope;
    const where = `mount "${name}"`;
    if (!ID_PATTERN.node.test(name))
      throw this.#invalid(mount, `${where} has a name that is not ${ID_PATTERN.node.source}`);
    if (Object.hasOwn(definition.nodes, name)) throw this.#invalid(mount, `${where} has the name of a node`);
    if (include?.type !== "include") throw this.#invalid(mount, `${where} was not made by includeWorkflow`);
    const child = this.#resolve(include.workflow, scope, where);
    const path = join(mount, name);
    if (chain.includes(child)) {
      throw this.#invalid(mount, `${where} includes "${child.name}" inside itself: ${this.#chain(scope, name, child)}`);
    }
    if (chain.length > INCLUDE.depth)
      throw this.#invalid(mount, `${where} lies ${chain.length} mounts deep; the limit is ${INCLUDE.depth}`);
    const added = this.#add(child, scope, { name, include }, [...chain, child]);
    this.#includes[path] = {
      workflow: child.name,
      maxSteps: child.maxSteps,
      exits: added.exits,
      ...(child.contractId === undefined ? {} : { contractId: child.contractId }),
      ...(child.source === undefined ? {} : { source: child.source }),
      ...(child.settings === undefined ? {} : { settings: child.settings.snapshot }),
    };
    return added;
  }

  #resolve(workflow: WorkflowDefinition | WorkflowRef, { mount }: CompiledScope, where: string): WorkflowDefinition {
    if (!isReference(workflow)) return workflow;
    const { contractId, workflow: ref } = workflow;
    if (typeof ref === "string" && this.#registry === undefined) {
      throw this.#invalid(mount, `${where} names workflow "${ref}", but there is no registry to look it up in`);
    }
    const child = typeof ref === "string" ? this.#registry?.resolve(ref) : ref.registry.resolve(ref.name);
    if (child === undefined) throw this.#invalid(mount, `${where} names a workflow that is not there`);
    if (contractId !== undefined && child.contractId !== contractId) {
      const seen = child.contractId === undefined ? "has none" : `has "${child.contractId}"`;
      throw this.#invalid(mount, `${where} needs contract "${contractId}"; workflow "${child.name}" ${seen}`);
    }
    return child;
  }

  #from(
    definition: WorkflowDefinition,
    { mount }: CompiledScope,
    children: ReadonlyMap<string, { exits: Record<string, string> }>,
    address: string,
    where: string,
  ): string {
    if (typeof address !== "string")
      throw this.#invalid(mount, `${where} leaves from ${typeof address}, which is no node`);
    if (Object.hasOwn(definition.nodes, address)) return join(mount, address);
    const dot = address.indexOf(".");
    const name = dot === -1 ? address : address.slice(0, dot);
    const child = children.get(name);
    if (child === undefined) {
      if (dot === -1) return join(mount, address);
      throw this.#invalid(mount, `${where} leaves from "${address}", but there is no mount "${name}"`);
    }
    const exits = Object.keys(child.exits).map((exit) => `${name}.${exit}`);
    const list = exits.length === 0 ? "it has none" : `they are ${exits.join(", ")}`;
    if (dot === -1) throw this.#invalid(mount, `${where} leaves from a mount; address one of its exits: ${list}`);
    const exit = address.slice(dot + 1);
    const path = Object.hasOwn(child.exits, exit) ? child.exits[exit] : undefined;
    if (path === undefined)
      throw this.#invalid(mount, `${where} leaves from exit "${exit}" of mount "${name}", which is none; ${list}`);
    return path;
  }

  /** `release → review "review" → fix "release"`: workflows, and under which mounts they include each other. */
  #chain(scope: CompiledScope, name: string, child: WorkflowDefinition): string {
    const parts: string[] = [`${name} "${child.name}"`];
    for (let at: CompiledScope | undefined = scope; at !== undefined; at = at.parent) {
      parts.unshift(at.parent === undefined ? `"${at.definition.name}"` : `${at.name} "${at.definition.name}"`);
    }
    return parts.join(" → ");
  }

  #invalid(mount: string, text: string): HoldpointError {
    const at = mount === "" ? "" : ` at mount "${mount}"`;
    return new HoldpointError("workflowInvalid", `Workflow "${this.#root.name}"${at}: ${text}.`);
  }
}

function join(mount: string, id: string): string {
  return mount === "" ? id : `${mount}/${id}`;
}
