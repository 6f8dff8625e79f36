// The story of a run as `holdpoint show` tells it.
import { describe, expect, test } from "vitest";
import { NOON, decisionSummary, effectSummary, runView } from "../client/views.ts";
import { always, on, fits, item } from "./fake.ts";

describe("show", () => {
  test("tells what ran, what was asked, who answered, what was done outside, and what comes next", async () => {
    const view = runView(
      { status: "completed", finishedAt: NOON + 60_000, currentNode: null },
      {
        finalOutput: { live: "4.12.0" },
        timeline: [
          item(0, "runner.launched", { command: "start", generation: 1 }),
          item(1, "node.finished", { nodeId: "plan", outcome: "ok" }),
          item(2, "decision.requested", {
            title: "Approve the deployment",
            fingerprint: "a91c4e",
            audience: "operators",
          }),
          item(3, "run.finished", { status: "completed" }),
        ],
        decisions: [
          decisionSummary({
            status: "accepted",
            resolution: {
              outcome: "accepted",
              provenance: "human",
              choice: "approve",
              label: "Approve",
              input: null,
              by: "Ann",
              channel: "telegram:default",
              assurance: "remote",
              resolvedAt: NOON + 30_000,
              graceAfterOutage: false,
            },
          }),
        ],
        effects: [
          effectSummary(),
          effectSummary({ shortId: "e-000001", purpose: "delivery", destination: "telegram:default/1001" }),
        ],
      },
    );
    const { out } = await on(await always(view), ["show", "7k3f"]);
    expect(out).toContain("deploy · shop-api 4.12.0  run 7k3f");
    expect(out).toContain("took 1 min");
    expect(out).not.toContain("generation");
    expect(out).toContain("plan done");
    expect(out.replace(/\s+/g, " ")).toMatch(/Approve by Ann, .* over telegram:default \(remote\)/);
    expect(out).toContain("e-9f31c2  deploy: done, confirmed (1 attempt)");
    expect(out).toContain("1 message of the service: done, confirmed");
    expect(out).toContain('{"live":"4.12.0"}');
    expect(out).toContain("Nothing: the run is over.");
    fits(out);
  });

  test("doubt is named, with the command that settles it", async () => {
    const settleWith = "holdpoint effect settle e-9f31c2 applied|notApplied|retry";
    const effect = effectSummary({ status: "ambiguous", settledAt: null, settleWith });
    const { out } = await on(await always(runView({ status: "ambiguous" }, { effects: [effect] })), ["show", "7k3f"]);
    expect(out).toContain("needs a person");
    expect(out).toContain("not known whether it happened");
    expect(out).toContain(settleWith);
  });

  test("a failure names the lines of the author's files where it was thrown", async () => {
    const stack = [
      "TypeError: no pool",
      "    at f (/srv/app/workflows/lib/pools.ts:10:9)",
      "    at Object.run (/srv/app/workflows/deploy.workflow.ts:14:45)",
      "    at performCompute (/opt/holdpoint/src/workflow/engine/perform.ts:21:26)",
    ].join("\n");
    const error = { code: "HP404", kind: "nodeFailed", message: "no pool", remedy: "See.", details: { stack } };
    const view = runView({ status: "failed" }, { error, workflowPath: "/srv/app/workflows/deploy.workflow.ts" });
    const { out } = await on(await always(view), ["show", "7k3f"]);
    expect(out).toContain("at f (/srv/app/workflows/lib/pools.ts:10:9)");
    expect(out).toContain("at Object.run (/srv/app/workflows/deploy.workflow.ts:14:45)");
    expect(out).not.toContain("performCompute");
    fits(out);
  });

  test("a failed command is shown with the end of what it wrote, inert", async () => {
    const stderr = `${"early\n".repeat(30)}\u001b[31mno space left\n`;
    const details = { exitCode: 7, signal: null, stderr, stdout: "" };
    const error = { code: "HP435", kind: "commandFailed", message: "It ended with 7.", remedy: "See.", details };
    const { out } = await on(await always(runView({ status: "failed" }, { error })), ["show", "7k3f"]);
    expect(out).toContain("Its stderr ended with:");
    expect(out).toContain("no space left");
    expect(out).not.toContain("\u001b[31m");
    expect(out).not.toContain("Its stdout");
    expect(out.match(/early/g)?.length).toBeLessThan(10);
    fits(out);
  });
});
