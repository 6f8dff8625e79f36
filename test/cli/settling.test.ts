// Commands by which a person settles what is in doubt, and how a refusal is shown.
import { describe, expect, test } from "vitest";
import { EXIT } from "../../src/cli/exit-codes.ts";
import { effectSummary } from "../client/views.ts";
import { serve, always, on } from "./fake.ts";

describe("settling", () => {
  test("effect settle passes the outcome and the result", async () => {
    const server = await always(effectSummary());
    const { out } = await on(server, ["effect", "settle", "e-9f31c2", "applied", "--result", '{"id":1}']);
    expect(server.requests[0]).toMatchObject({
      operation: "effect.settle",
      payload: { effect: "e-9f31c2", outcome: "applied", result: { id: 1 } },
      idempotencyKey: expect.any(String),
    });
    expect(out).toContain("done, confirmed");
  });

  test("channel recover passes part and reference", async () => {
    const server = await always(effectSummary({ purpose: "delivery" }));
    await on(server, ["channel", "recover", "e-9f31c2", "confirm", "--part", "2", "--reference", "815"]);
    expect(server.requests[0]?.payload).toEqual({ effect: "e-9f31c2", action: "confirm", part: 2, reference: "815" });
  });

  test("cancel passes the reason", async () => {
    const server = await always({ runId: "r", shortId: "7k3f", status: "cancelled", revision: 9 });
    const { out } = await on(server, ["cancel", "7k3f", "--reason", "not today"]);
    expect(server.requests[0]?.payload).toEqual({ run: "7k3f", reason: "not today" });
    expect(out).toContain("Run 7k3f is cancelled");
  });

  test("the server's error is shown with why, what to do, code, and the right exit code", async () => {
    const error = { code: "HP406", kind: "runNotFound", message: 'No run fits "zz".', remedy: "List the runs." };
    const server = await serve(() => ({ outcome: "notFound", error }));
    const { code, err } = await on(server, ["pause", "zz"]);
    expect(code).toBe(EXIT.notFound.code);
    expect(err).toBe('No run fits "zz". (HP406)\nTo do: List the runs.\n');
  });
});
