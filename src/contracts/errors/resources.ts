/** Resource managers: HP450 to HP469. */
import type { ErrorEntry } from "./entry.ts";

export const RESOURCES_ERRORS = {
  resourceNotFound: {
    code: "HP450",
    when: "No managed resource of this project has this manager and key.",
    remedy: "List them with `holdpoint resource-managers`.",
  },
  resourceInvalid: {
    code: "HP451",
    when: "A resource's name, key, spec or status breaks a rule or a limit.",
    remedy: "Correct what the message names.",
  },
  resourceDeleting: {
    code: "HP452",
    when: "A resource that is being deleted cannot get a new spec.",
    remedy: "Wait until it is gone, then apply again. Its present spec again only approves the manager's mended files.",
  },
  resourceChanged: {
    code: "HP453",
    when: "A resource has another version than the one that the caller had read.",
    remedy: "Read it again with `holdpoint resource-manager <name> <key>`, then repeat.",
  },
  managerNotFound: {
    code: "HP454",
    when: "No resource manager file of this name exists, or a path leads to none.",
    remedy: "Put `<name>.resource-manager.ts` into .pi/resource-managers, or give its path with --path.",
  },
  managerLoad: {
    code: "HP455",
    when: "A resource manager's file cannot be loaded, or exports something else.",
    remedy: "Write `export default defineResourceManager({ name, initialStatus, reconcile })`.",
  },
  managerInvalid: {
    code: "HP456",
    when: "A call of the resource manager API breaks one of its rules.",
    remedy: "Correct what the message names in the resource manager's file.",
  },
  managerSourceChanged: {
    code: "HP457",
    when: "A resource manager's file is not what was resolved or approved.",
    remedy: "Apply the resource again; its spec may stay the same.",
  },
  reconcileFailed: {
    code: "HP458",
    when: "A pass of a resource manager threw; it is repeated with growing pauses.",
    remedy: "See the message; `holdpoint reconcile <name> <key>` tries at once.",
  },
  reconcileTimedOut: {
    code: "HP459",
    when: "A pass of a resource manager did not return in time; its process was ended.",
    remedy: "Do less in one pass, pass ctx.signal on, and return requeueAfter.",
  },
  resourceRunnerCrashed: {
    code: "HP460",
    when: "The process of a pass ended before the pass returned; the pass is repeated.",
    remedy: "See the message and `holdpoint server status`.",
  },
  managerReserved: {
    code: "HP461",
    when: "The name belongs to a resource manager of the product.",
    remedy: "Give your resource manager another name.",
  },
  effectUnsettled: {
    code: "HP462",
    when: "Whether an effect of a resource happened cannot be told; it is looked at again in the next pass.",
    remedy: "If it never can be told: `holdpoint effect settle <id> applied|notApplied|retry`.",
  },
} as const satisfies Record<string, ErrorEntry>;
