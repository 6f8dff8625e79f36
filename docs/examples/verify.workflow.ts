// Several commands in one action, a few at a time, with updates about each and about the whole.
import { action, defineWorkflow, idempotentEffect, runCommandBatch, type BatchItem, type NodeContext } from "holdpoint";

interface Input {
  readonly checks: readonly BatchItem[];
}

export default defineWorkflow({
  name: "verify",
  source: import.meta.url,
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
