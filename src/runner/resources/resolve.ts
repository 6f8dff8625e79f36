/** For `apply`: finds the manager, checks that it is the one that is named, and asks it for the status of a new resource. */
import { HoldpointError } from "../../contracts/errors.ts";
import type { FromResourceRunner, ResolveLaunch } from "../../contracts/protocol/resource-runner.ts";
import { findManager } from "../../contracts/resource/discovery.ts";
import { initialStatusOf } from "../../resource/pass.ts";
import { loadNew } from "./load.ts";

/** The frames of the answer. Throws what the manager's file or its code has to say against it. */
export async function resolveManager(launch: ResolveLaunch): Promise<FromResourceRunner[]> {
  const { cacheDir, manager: name, projectPath, spec } = launch;
  const found = await findManager(name, projectPath, launch.path);
  const { manager, path, sources } = await loadNew(found, projectPath, cacheDir);
  if (manager.name !== name)
    throw new HoldpointError("managerLoad", `${path} defines resource manager "${manager.name}", not "${name}".`, {
      remedy: "Give the file and the definition in it the same name.",
      details: { path },
    });
  return [
    { type: "value", of: "status", value: initialStatusOf(manager, spec) },
    { type: "resolved", path, sources },
  ];
}
