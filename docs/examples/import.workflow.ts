// Settings: how many records are imported can be changed while it runs; the route looks again when they change.
import { allowSettingsPath, compute, defineWorkflow, settingsRoute, workflowSettings } from "holdpoint";
import { z } from "zod";

const settingsSchema = z.strictObject({ limit: z.number().int().min(1).max(10_000), note: z.string().optional() });

export default defineWorkflow({
  name: "import",
  source: import.meta.url,
  maxSteps: 25_000,
  settings: workflowSettings({
    description: "How many records are imported at most.",
    initial: (input: { limit?: number } | null) => ({ limit: input?.limit ?? 3 }),
    parse: (value) => settingsSchema.parse(value),
    paths: [
      allowSettingsPath("/limit", { read: ["human", "session"], replace: ["human"] }),
      allowSettingsPath("/note", { read: ["human"], add: ["human", "session"], remove: ["human"] }),
    ],
    validateChange: ({ after, before }) => {
      if (after.limit < before.limit) throw new Error("The limit can only be raised.");
    },
  }),
  startAt: "record",
  nodes: {
    record: compute({ run: ({ outputs }) => ({ count: (outputs["record"]?.count ?? 0) + 1 }) }),
    more: settingsRoute({
      run: ({ outputs, settings }) => ({ more: outputs["record"].count < settings.limit, limit: settings.limit }),
    }),
    done: compute({ run: ({ outputs }) => ({ imported: outputs["record"]?.count, limit: outputs["more"]?.limit }) }),
  },
  edges: [
    { from: "record", to: "more" },
    { from: "more", switch: { on: "$.more", cases: { true: "record", false: "done" } } },
  ],
});
