/** The words that a model gets for a step. */
import { expect, test } from "vitest";
import { longestStepText, stepText, type StepReason } from "../../src/contracts/agent-step.ts";

const REASONS: readonly StepReason[] = ["initial", "reminder", "resumed"];
const submit = { kind: "submit", expectedOutput: "A number." } as const;
const text = (reason: StepReason, prompt = "/do it"): string =>
  stepText({ nodeId: "a/b", prompt, contract: submit }, reason, { requestId: "q-123456", reminder: 2 });

test.each(REASONS)("%s: says how the result is given, for which request, and that the turn ends with it", (reason) => {
  expect(text(reason)).toContain('action "submit", requestId "q-123456"');
  expect(text(reason)).toContain("A number.");
  expect(text(reason)).toMatch(/end your turn at once[\s\S]*do not wait, sleep or look for a next step/);
});

test.each(REASONS)("%s: never begins with what an author wrote", (reason) => {
  expect(text(reason)).not.toMatch(/^\s*[/!@]/);
});

test("a reminder repeats the contract and not the prompt, and counts", () => {
  expect(text("reminder", "the long prompt")).not.toContain("the long prompt");
  expect(text("reminder")).toContain("reminder 2 of 2");
});

test("an interrupted step is told to look before it does anything twice", () => {
  expect(text("resumed")).toMatch(/interrupted[\s\S]*look before you do anything a second time[\s\S]*\/do it/);
});

test("a step with an assistant message is not asked to submit", () => {
  const contract = { kind: "assistantMessage", maxChars: 500 } as const;
  const said = stepText({ nodeId: "n", prompt: "p", contract }, "initial", { requestId: "q-1" });
  expect(said).toContain("at most 500 characters");
  expect(said).not.toContain("submit");
});

test.each(["initial", "resumed"] as const)(
  "what is counted against the budget is at least the text for %s",
  (reason) => {
    const step = { nodeId: "a/b", prompt: "Do it.", contract: submit };
    expect(longestStepText(step)).toBeGreaterThanOrEqual(stepText(step, reason, { requestId: "q-123456" }).length);
  },
);
