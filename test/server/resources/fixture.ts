/** A server in this process with resource manager files in its project. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { ResourceDetail } from "../../../src/contracts/protocol/resource-operations.ts";
import type { JsonValue } from "../../../src/contracts/protocol/shared.ts";
import { makeWorld, type World } from "../runs/world.ts";

export const IMPORT = `import { defineResourceManager, conditionTrue, conditionFalse, effectRejected, isEffectRejected } from "holdpoint/resource-managers";\n`;

export interface ManagedWorld extends World {
  /** Writes `.pi/resource-managers/<name>.resource-manager.ts`; `body` is what stands in the definition beside its name. */
  manager(name: string, body: string, before?: string): string;
  apply(manager: string, key: string, spec?: JsonValue): Promise<void>;
  detail(manager: string, key: string): Promise<ResourceDetail>;
  /** The first look at a resource that satisfies the predicate. */
  seen(
    manager: string,
    key: string,
    predicate: (detail: ResourceDetail) => boolean,
    what?: string,
  ): Promise<ResourceDetail>;
  reconcile(manager: string, key: string): Promise<void>;
}

export async function makeManagedWorld(...args: Parameters<typeof makeWorld>): Promise<ManagedWorld> {
  const world = await makeWorld(...args);
  for (const folder of ["resource-managers", "workflows"])
    mkdirSync(join(world.folder, ".pi", folder), { recursive: true });
  const projectPath = world.folder;
  const managed = {
    manager: (name: string, body: string, before = "") =>
      world.put(
        `.pi/resource-managers/${name}.resource-manager.ts`,
        `${IMPORT}${before}\nexport default defineResourceManager({ name: "${name}", ${body} });\n`,
      ),
    apply: async (manager: string, key: string, spec: JsonValue = {}) => {
      await world.call("resourceManager.apply", { projectPath, manager, key, spec, path: null, expectedVersion: null });
    },
    detail: async (manager: string, key: string) =>
      (await world.call("resourceManager.get", { projectPath, manager, key })).result,
    seen: async (
      manager: string,
      key: string,
      predicate: (detail: ResourceDetail) => boolean,
      what = "the expected state",
    ) => {
      let last: ResourceDetail | undefined;
      const look = async (): Promise<ResourceDetail | undefined> => {
        last = await managed.detail(manager, key);
        return predicate(last) ? last : undefined;
      };
      return world.when(
        look,
        () => `${what} did not come: ${JSON.stringify([last?.resource.status, last?.queue, last?.lastPass])}`,
      );
    },
    reconcile: async (manager: string, key: string) => {
      await world.call("resourceManager.reconcile", { projectPath, manager, key });
    },
  };
  // The world has getters, which a copy would freeze.
  return Object.assign(world, managed);
}

/** Whether its last pass settled and nothing waits. */
export function settled({ lastPass, queue }: ResourceDetail): boolean {
  return lastPass?.outcome === "settled" && queue === null;
}
