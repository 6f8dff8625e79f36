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
    expect(out).toMatch(/Approve by Ann, .* over\s+telegram:default \(remote\)/);
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
});
