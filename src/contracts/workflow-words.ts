/** Words of the `/workflow` command; no workflow can have them as its name. */
export const RESERVED_WORKFLOW_NAMES: ReadonlySet<string> = new Set([
  "answer",
  "cancel",
  "change-settings",
  "clear",
  "effect",
  "help",
  "list",
  "pause",
  "queue-follow-up",
  "remove-follow-up",
  "restart",
  "resume",
  "status",
]);
