/** Random workflows in bad weather come to what the reference interpreter says they come to. */
import { expect, it } from "vitest";
import { search } from "./engine/compare.ts";

it("x", async () => {
  const struck: Record<string, number> = {};
  const status: Record<string, number> = {};
  let steps = 0;
  const began = Date.now();
  await search({ runs: Number(process.env["RUNS"] ?? 50), seed: Number(process.env["SEED"] ?? 1), onPlayed: (p) => {
    for (const k of p.struck) struck[k] = (struck[k] ?? 0) + 1;
    status[p.story.error ?? p.story.status] = (status[p.story.error ?? p.story.status] ?? 0) + 1;
    steps += p.story.steps.length;
  } });
  console.log(Date.now() - began, struck, status, steps);
  expect(1).toBe(1);
});
