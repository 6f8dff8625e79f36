/**
 * Managed resources on the server's side: what callers want goes in, and everything that may lead to a pass comes through here. The
 * server never loads a manager's code; what only that code can tell is asked in a process of its own.
 */
import { HoldpointError } from "../../contracts/errors.ts";
import type { JsonValue } from "../../contracts/protocol/shared.ts";
import { checkResourceName } from "../../contracts/resource/model.ts";
import type { Receipt, SourceContent, Store } from "../../state/store.ts";

/** A manager that the server has itself: no file of a user, no runner of its own. */
export interface BuiltinManager {
  /** Its name, which is also that of its lane. */
  readonly name: string;
  /** `builtin:<name>@<revision>`. */
  readonly source: string;
  /** Checks a spec and its key. Throws `resourceInvalid`. What it returns is stored. */
  readonly prepare: (spec: JsonValue, key: string) => { readonly spec: JsonValue; readonly initialStatus: JsonValue };
  /** Something may be due in its lane; cheap, and safe to call at any time. */
  readonly wake: () => void;
}

/** What a resolver found out about a manager of a user. */
export interface ResolvedManager {
  /** The file, without links. */
  readonly path: string;
  readonly sources: readonly SourceContent[];
  readonly initialStatus: JsonValue;
}

export interface ResolveRequest {
  readonly projectPath: string;
  readonly manager: string;
  /** null = found by its name. */
  readonly path: string | null;
  readonly spec: JsonValue;
}

export type Resolver = (request: ResolveRequest) => Promise<ResolvedManager>;

export interface ApplyRequest {
  readonly projectPath: string;
  readonly manager: string;
  readonly key: string;
  readonly spec: JsonValue;
  readonly path: string | null;
  readonly expectedVersion: number | null;
  readonly receipt: Receipt | null;
  readonly actor: { readonly type: string; readonly id: string };
}

export interface ResourcesDeps {
  readonly store: Store;
  readonly resolve: Resolver;
  /** Something may be due in the lane of users' managers. */
  readonly wakeRunners: () => void;
}

export class Resources {
  readonly #deps: ResourcesDeps;
  readonly #builtins = new Map<string, BuiltinManager>();

  constructor(deps: ResourcesDeps) {
    this.#deps = deps;
  }

  /** Adds a manager of the product, before the first resource is applied. Its name is reserved. */
  register(manager: BuiltinManager): void {
    this.#builtins.set(manager.name, manager);
  }

  /** Something may be due in any lane. */
  wake(): void {
    this.#deps.wakeRunners();
    for (const { wake } of this.#builtins.values()) wake();
  }

  /**
   * Says what is wanted of a resource. Throws `resourceInvalid`, `resourceDeleting`, `resourceChanged`, and what the manager's code has
   * to say against the spec.
   */
  async apply(request: ApplyRequest): ReturnType<Store["managed"]["apply"]> {
    const { manager, path, projectPath, spec, ...rest } = request;
    checkResourceName(manager, request.key);
    const done = await this.#deps.store.managed.apply({
      ...rest,
      manager,
      projectPath,
      ...(await this.#prepare({ manager, path, projectPath, spec }, request.key)),
    });
    this.wake();
    return done;
  }

  /** One way in for everything that happens outside: a hint that a resource is worth a look. Throws `resourceNotFound`. */
  async enqueue(input: Parameters<Store["managed"]["enqueue"]>[0]): ReturnType<Store["managed"]["enqueue"]> {
    const queued = await this.#deps.store.managed.enqueue(input);
    this.wake();
    return queued;
  }

  async remove(input: Parameters<Store["managed"]["remove"]>[0]): ReturnType<Store["managed"]["remove"]> {
    const done = await this.#deps.store.managed.remove(input);
    this.wake();
    return done;
  }

  /** Makes the queue again from the resources; returns how many had fallen out of it. */
  async rebuildQueue(): Promise<number> {
    let queued = 0;
    for (let after: number | null = 0; after !== null;) {
      const page: { queued: number; next: number | null } = await this.#deps.store.managed.rebuild({ after });
      queued += page.queued;
      after = page.next;
    }
    this.wake();
    return queued;
  }

  async #prepare(
    request: ResolveRequest,
    key: string,
  ): Promise<{
    readonly spec: JsonValue;
    readonly initialStatus: JsonValue;
    readonly lane: string;
    readonly source: string;
    readonly sources: readonly SourceContent[];
  }> {
    const builtin = this.#builtins.get(request.manager);
    if (builtin === undefined) {
      const { initialStatus, path, sources } = await this.#deps.resolve(request);
      return { spec: request.spec, initialStatus, lane: "runner", source: path, sources };
    }
    if (request.path !== null)
      throw new HoldpointError("managerReserved", `"${request.manager}" is a resource manager of the product.`);
    return { ...builtin.prepare(request.spec, key), lane: builtin.name, source: builtin.source, sources: [] };
  }
}
