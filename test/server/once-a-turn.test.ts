import { expect, it } from "vitest";
import { onceATurn } from "../../src/server/once-a-turn.ts";

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

it("many wake-ups of one turn are one look, the next turn's another, and none comes after the stop", async () => {
  let looks = 0;
  let stopped = false;
  const wake = onceATurn(
    () => (looks += 1),
    () => stopped,
  );
  for (let i = 0; i < 100; i += 1) wake();
  expect(looks).toBe(0);
  await turn();
  expect(looks).toBe(1);
  wake();
  await turn();
  expect(looks).toBe(2);
  wake();
  stopped = true;
  await turn();
  expect(looks).toBe(2);
});
