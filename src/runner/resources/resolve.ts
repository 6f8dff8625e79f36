/** For `apply`: finds the manager, checks that it is the one that is named, and asks it for the status of a new resource. */
import { HoldpointError } from "../../contracts/errors.ts";
import type { FromResourceRunner, ResolveLaunch } from "../../contracts/protocol/resource-runner.ts";
import { findManager } from "../../contracts/resource/discovery.ts";
import { initialStatusOf } from "../../resource/pass.ts";
import { loadNew } from "./load.ts";

/** The frames of the answer, and the working folder it was found in. Throws what the manager's file or its code has to say against it. */
export async function resolveManager(
  launch: ResolveLaunch,
): Promise<{ readonly cwd: string; readonly frames: FromResourceRunner[] }> {
  const { cacheDir, manager: name, projectPath, spec } = launch;
  const found = await findManager(name, projectPath, launch.path);
  const { cwd, manager, path, sources } = await loadNew(found, projectPath, cacheDir);
  if (manager.name !== name)
    throw new HoldpointError("managerLoad", `${path} defines resource manager "${manager.name}", not "${name}".`, {
      remedy: "Give the file and the definition in it the same name.",
      details: { path },
    });
  const value = initialStatusOf(manager, spec);
  return {
    cwd,
    frames: [
      { type: "value", of: "status", value },
      { type: "resolved", path, sources },
    ],
  };
}
