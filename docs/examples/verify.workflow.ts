// Several commands in one action, a few at a time, with updates about each and about the whole.
// holdpoint run docs/examples/verify.workflow.ts --input '{"checks":[{"id":"types","command":"npx","args":["tsc","--noEmit"]}]}'
import { action, defineWorkflow, idempotentEffect, runCommandBatch, type NodeContext } from "holdpoint";
import { z } from "zod";

const inputSchema = z.object({
  checks: z.array(z.object({ id: z.string(), command: z.string(), args: z.array(z.string()).default([]) })).min(1),
});
type Input = z.infer<typeof inputSchema>;

export default defineWorkflow({
  name: "verify",
  source: import.meta.url,
  input: (given: z.input<typeof inputSchema>): Input => inputSchema.parse(given),
  startAt: "verify",
  nodes: {
    verify: action({
      effect: idempotentEffect("verify"),
      timeoutMs: 45 * 60_000,
      request: ({ input }: NodeContext<Input>) => ({ checks: input.checks.map(({ id }) => id) }),
      run: async (context) => {
        const { checks } = context.input;
        await context.publishUpdate({
          type: "progress",
          key: "overall",
          data: {
            schema: "holdpoint.progress.v1",
            label: "Verification",
            status: "running",
            completed: 0,
            total: checks.length,
            unit: "checks",
          },
        });
        const batch = await runCommandBatch(context, {
          batchKind: "verification",
          items: checks,
          concurrency: 2,
          timeoutMs: 40 * 60_000,
          updates: true,
        });
        return {
          passed: batch.succeeded === batch.total,
          failed: batch.items
            .filter(({ outcome }) => outcome !== "succeeded")
            .map(({ itemId, stderr }) => ({ itemId, stderr })),
        };
      },
    }),
  },
});
